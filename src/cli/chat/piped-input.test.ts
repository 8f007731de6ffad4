import { PassThrough, Readable } from "node:stream";
import { expect, test } from "vitest";
import { readPiped } from "./piped-input.ts";

const never = (): never => expect.fail("nothing is to be told");

test("everything is read to its end, and nothing but space is nothing", async () => {
  expect(await readPiped(Readable.from([Buffer.from("a\n日"), Buffer.from("本")]), never)).toBe(
    "a\n日本",
  );
  expect(await readPiped(Readable.from([Buffer.from(" \n")]), never)).toBeNull();
  expect(await readPiped(Readable.from([]), never)).toBeNull();
});

test("whoever keeps a pipe open and says nothing is told of and not waited for", async () => {
  const told: string[] = [];
  const input = new PassThrough();
  expect(await readPiped(input, (text) => void told.push(text), 20)).toBeNull();
  expect(told).toEqual(["No input came on standard input; continuing without it."]);
  expect(input.destroyed).toBe(true);
});
