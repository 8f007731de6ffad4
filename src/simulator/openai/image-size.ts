// Width and height of an image in a data URL.
import { readImageSize, type ImageSize } from "../image-size.ts";

/** Null if the URL holds no image data, or in an unknown format. */
export function imageSize(url: string): ImageSize | null {
  const head = /^data:image\/[\w.+-]+;base64,/.exec(url)?.[0];
  return head === undefined ? null : readImageSize(url.slice(head.length));
}
