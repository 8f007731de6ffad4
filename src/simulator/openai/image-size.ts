// Width and height of an image in a data URL, from the first bytes of its own format.

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** Null where the image is elsewhere or in a format not read here. */
export function imageSize(url: string): ImageSize | null {
  const data = /^data:image\/[\w.+-]+;base64,/.exec(url)?.[0];
  if (data === undefined) return null;
  const bytes = Buffer.from(url.slice(data.length, data.length + headBase64Max), "base64");
  return pngSize(bytes) ?? gifSize(bytes) ?? jpegSize(bytes);
}

/** Enough for the headers of any photo; the pixels are not needed. */
const headBase64Max = 400_000;

function pngSize(bytes: Buffer): ImageSize | null {
  if (bytes.length < 24 || bytes.toString("latin1", 1, 4) !== "PNG") return null;
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

function gifSize(bytes: Buffer): ImageSize | null {
  if (bytes.length < 10 || bytes.toString("latin1", 0, 3) !== "GIF") return null;
  return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
}

function jpegSize(bytes: Buffer): ImageSize | null {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return null;
  let at = 2;
  while (at + 9 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return null;
}
