import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { describeProblem } from "../../core/config/config-problem.ts";
import { loadConfig } from "./load-config.ts";
import { readConfigFile } from "./read-config-file.ts";

const makePipe = "mkfifo";

let folder = "";
let path = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "strata-config-"));
  path = join(folder, "strata.yaml");
});
afterEach(() => rmSync(folder, { recursive: true }));

async function problemsOf(content: string | Uint8Array): Promise<string[]> {
  writeFileSync(path, content);
  const reading = await readConfigFile({ path, isFound: false, isNamed: true });
  if (reading.kind !== "read") return [reading.kind];
  return reading.problems.map((problem) => describeProblem(problem).replace(`${path}:`, ""));
}

describe("a file", () => {
  test("that is empty, or begins with a mark of its encoding, is fine", async () => {
    expect(await problemsOf("")).toEqual([]);
    expect(await problemsOf("\ufefftools: { bash: true }\r\n")).toEqual([]);
  });

  test("that is too large is not read", async () => {
    expect(await problemsOf(Buffer.alloc(10_000_000, "a"))).toEqual([
      "1:1: the file has 10000000 bytes, more than 1048576; name the right file, or make it smaller",
    ]);
  });

  test("that is not UTF-8, or binary, is said to be so", async () => {
    const notUtf8 = "1:1: the file is not UTF-8 text; save it as UTF-8";
    expect(await problemsOf(Buffer.from("tools: {}", "utf16le"))).toEqual([
      "1:1: the file is not text: it has control characters; name a YAML file",
    ]);
    expect(await problemsOf(Uint8Array.of(0xff, 0xfe, 0x61, 0))).toEqual([notUtf8]);
    expect(await problemsOf(Uint8Array.of(0x61, 0xe4, 0x62))).toEqual([notUtf8]);
    expect(await problemsOf("a: \u001b[31m")).toEqual([
      "1:1: the file is not text: it has control characters; name a YAML file",
    ]);
  });

  test("that is a pipe is reported as not a file, without waiting for it", async () => {
    execFileSync(makePipe, [path]);
    const reading = await readConfigFile({ path, isFound: true, isNamed: false });
    expect(reading).toMatchObject({ problems: [{ message: "the file is not a file" }] });
  });

  test("that is a folder is said to be so", async () => {
    mkdirSync(path);
    const reading = await readConfigFile({ path, isFound: false, isNamed: true });
    expect(reading).toMatchObject({
      problems: [{ message: expect.stringMatching(/is not a file|cannot be read/) }],
    });
  });

  test.each(["#\n", "\n", "\r", "  # x\n"])(
    "of 400,000 lines of %j is refused before it is parsed",
    async (line) => {
      writeFileSync(path, line.repeat(Math.min(400_000, Math.floor(1_048_576 / line.length))));
      const reading = await readConfigFile({ path, isFound: false, isNamed: true });
      expect(reading).toMatchObject({
        problems: [
          {
            message: expect.stringMatching(/^the file has \d+ lines, more than 20000$/),
            hint: "name the right file, or make it shorter",
          },
        ],
      });
    },
  );

  test("that cannot be reached is said to be so", async () => {
    symlinkSync(path, path);
    const reading = await readConfigFile({ path, isFound: false, isNamed: true });
    expect(reading).toMatchObject({ problems: [{ message: "the file cannot be read (ELOOP)" }] });
  });

  test("that does not exist is no problem, unless the user named it", async () => {
    const absent = await loadConfig({ files: [{ path, isFound: true, isNamed: false }], env: {} });
    expect(absent).toMatchObject({ problems: [], filesThere: [] });
    await expect(
      loadConfig({ files: [{ path, isFound: false, isNamed: true }], env: {} }),
    ).rejects.toMatchObject({ code: "not-found" });
  });

  test("with wrong settings is read to its end: all problems are reported", async () => {
    writeFileSync(path, "tols: 1\nmodels: { override: { nope: {} } }\n");
    const { problems } = await loadConfig({
      files: [{ path, isFound: false, isNamed: true }],
      env: {},
    });
    expect(problems.map(({ message }) => message)).toEqual([
      "tols is not a setting",
      "models: nope overrides a model that is not known",
    ]);
  });
});
