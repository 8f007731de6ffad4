// Goal: the size of an image from its first bytes.
import { expect, test } from "vitest";
import { readImageSize } from "./image-size.ts";

function base64(...bytes: readonly number[]): string {
  return Buffer.from(bytes).toString("base64");
}

function latin1(text: string): number[] {
  return [...Buffer.from(text, "latin1")];
}

test("a GIF has it in its header", () => {
  expect(readImageSize(base64(...latin1("GIF89a"), 0x40, 0x01, 0xf0, 0x00))).toEqual({
    width: 320,
    height: 240,
  });
});

test("a JPEG has it behind other segments", () => {
  const header = [0xff, 0xd8, 0xff, 0xe0, 0x00, 0x04, 0x00, 0x00];
  const frame = [0xff, 0xc0, 0x00, 0x11, 0x08, 0x00, 0xf0, 0x01, 0x40, 0x03];
  expect(readImageSize(base64(...header, ...frame))).toEqual({ width: 320, height: 240 });
});

test("the three kinds of WebP have it in three places", () => {
  const riff = [...latin1("RIFF"), 0, 0, 0, 0, ...latin1("WEBP")];
  const lossy = [
    ...riff,
    ...latin1("VP8 "),
    ...Array.from({ length: 10 }, () => 0),
    0x40,
    0x01,
    0xf0,
    0x00,
  ];
  const lossless = [
    ...riff,
    ...latin1("VP8L"),
    0,
    0,
    0,
    0,
    0x2f,
    0x3f,
    0xc1,
    0x3b,
    0x00,
    0,
    0,
    0,
    0,
    0,
  ];
  const extended = [
    ...riff,
    ...latin1("VP8X"),
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0x3f,
    0x01,
    0x00,
    0xef,
    0x00,
    0x00,
  ];
  for (const bytes of [lossy, lossless, extended])
    expect(readImageSize(base64(...bytes))).toEqual({ width: 320, height: 240 });
});

test("what is no image has no size", () => {
  expect(readImageSize("")).toBeNull();
  expect(readImageSize(base64(1, 2, 3))).toBeNull();
  expect(readImageSize(base64(0xff, 0xd8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff))).toBeNull();
  expect(readImageSize("not base64 at all!")).toBeNull();
});
