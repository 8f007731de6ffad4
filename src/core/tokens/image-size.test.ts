import { expect, test } from "vitest";
import { imageSize } from "./image-size.ts";

const padding = Array.from({ length: 12 }, () => 0);

test("a PNG's size is read from its header", () => {
  const png = [0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52];
  expect(imageSize(base64([...png, 0, 0, 4, 0, 0, 0, 3, 0]))).toEqual({ width: 1024, height: 768 });
});

test("a GIF's size is read from its header", () => {
  const gif = [0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 0x40, 0x01, 0xf0, 0x00, ...padding, 0, 0];
  expect(imageSize(base64(gif))).toEqual({ width: 320, height: 240 });
});

test("a JPEG's size is found behind its metadata", () => {
  const metadata = [0xff, 0xe0, 0, 6, 1, 2, 3, 4];
  const frame = [0xff, 0xc2, 0, 17, 8, 2, 0x58, 3, 0x20];
  expect(imageSize(base64([0xff, 0xd8, ...metadata, ...frame, ...padding]))).toEqual({
    width: 800,
    height: 600,
  });
});

test.each([
  ["nothing", ""],
  ["text", "not base64 at all!"],
  ["a picture of another kind", base64(Array.from({ length: 40 }, () => 7))],
  [
    "a JPEG cut off in its metadata",
    base64([0xff, 0xd8, 0xff, 0xe0, 0xff, 0xff, ...padding, ...padding]),
  ],
  ["a PNG without a width", base64([0x89, 0x50, 0x4e, 0x47, ...padding, ...padding])],
])("%s has no size", (_what, data) => {
  expect(imageSize(data)).toBeUndefined();
});

function base64(bytes: readonly number[]): string {
  return Buffer.from(bytes).toString("base64");
}
