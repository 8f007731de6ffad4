import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { readLines, type Line } from "./read-lines.ts";
import { collect } from "./test-kit.ts";

const folder = mkdtempSync(join(tmpdir(), "strata-lines-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function linesOf(content: string | Buffer, bytesMax?: number): Promise<Line[]> {
  const path = join(folder, "file");
  writeFileSync(path, content);
  return collect(readLines(path, undefined, bytesMax));
}

describe("lines of a file", () => {
  test("come without their ends, without a byte order mark and without empty ones", async () => {
    const lines = await linesOf("\uFEFFone\r\ntwo\n\nfour");
    expect(lines).toEqual([
      { number: 1, text: "one", isEnded: true },
      { number: 2, text: "two", isEnded: true },
      { number: 4, text: "four", isEnded: false },
    ]);
  });

  test("a character is whole even where a chunk of the file ends inside it", async () => {
    const long = "€".repeat(200_000);
    const lines = await linesOf(`${long}\nb\n`);
    expect(lines.map(({ text }) => text?.length)).toEqual([200_000, 1]);
    expect(lines[0]?.text).toBe(long);
  });

  test("one that is too long is passed over, and those after it are read", async () => {
    const lines = await linesOf(`a\n${"x".repeat(500_000)}\nb\n`, 1000);
    expect(lines.map(({ number, text }) => [number, text])).toEqual([
      [1, "a"],
      [2, null],
      [3, "b"],
    ]);
  });

  test("an empty file has none", async () => {
    expect(await linesOf("")).toEqual([]);
  });
});
