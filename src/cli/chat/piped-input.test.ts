import { PassThrough, Readable } from "node:stream";
import { expect, test } from "vitest";
import { readPiped } from "./piped-input.ts";

const never = (): never => expect.fail("no notice is expected");

test("piped input is read to its end, and input of only spaces counts as none", async () => {
  expect(await readPiped(Readable.from([Buffer.from("a\n日"), Buffer.from("本")]), never)).toBe(
    "a\n日本",
  );
  expect(await readPiped(Readable.from([Buffer.from(" \n")]), never)).toBeNull();
  expect(await readPiped(Readable.from([]), never)).toBeNull();
});

test("a pipe that stays open without data is reported and not waited for", async () => {
  const notices: string[] = [];
  const input = new PassThrough();
  expect(await readPiped(input, (text) => void notices.push(text), 20)).toBeNull();
  expect(notices).toEqual(["No input came on standard input; continuing without it."]);
  expect(input.destroyed).toBe(true);
});
