import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { readText } from "./memory-consolidate.ts";

test("text comes as it is: with its byte order mark, and characters that two pieces share", async () => {
  const [first, second] = [Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0xc3]), Buffer.from([0xbc, 0x0a])];
  expect(await readText(Readable.from([first, second]), 100)).toBe("\ufeffaü\n");
});

test("bytes that are not UTF-8 are refused, and so is too much", async () => {
  const latin = Readable.from([Buffer.from("caf\u00e9\n", "latin1")]);
  await expect(readText(latin, 100)).rejects.toMatchObject({
    code: "input-invalid",
    message: "standard input is not UTF-8 text",
  });
  await expect(readText(Readable.from([Buffer.alloc(11)]), 10)).rejects.toThrow(
    "more than 10 bytes",
  );
});
