import { expect, test } from "vitest";
import { imageSize } from "./read-parts.ts";

function dataUrl(type: string, bytes: readonly number[]): string {
  return `data:image/${type};base64,${Buffer.from(bytes).toString("base64")}`;
}

test("sizes are read from PNG, GIF and JPEG headers", () => {
  const png = [0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52];
  expect(imageSize(dataUrl("png", [...png, 0, 0, 2, 0, 0, 0, 1, 0]))).toEqual({
    width: 512,
    height: 256,
  });
  const gif = [0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 44, 1, 200, 0];
  expect(imageSize(dataUrl("gif", gif))).toEqual({ width: 300, height: 200 });
  const jpeg = [0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xc0, 0, 11, 8, 0, 100, 0, 50, 3];
  expect(imageSize(dataUrl("jpeg", jpeg))).toEqual({ width: 50, height: 100 });
});

test("an image elsewhere or broken has no size", () => {
  expect(imageSize("https://example.com/a.png")).toBeNull();
  expect(imageSize(dataUrl("png", [1, 2, 3]))).toBeNull();
  expect(imageSize(dataUrl("jpeg", [0xff, 0xd8, 0xff, 0xe0]))).toBeNull();
});
