// Reads the size of an image from the first bytes of its file.

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** Enough for the headers and for the metadata that cameras put before a JPEG's size. */
const headerCharacters = 262_144;

/** Reads PNG, GIF and JPEG. Undefined for other formats and damaged data. */
export function imageSize(base64: string): ImageSize | undefined {
  const bytes = decodeStart(base64);
  if (bytes === undefined || bytes.length < 24) return undefined;
  const view = new DataView(bytes.buffer);
  if (view.getUint32(0) === 0x89504e47) return sizeOf(view.getUint32(16), view.getUint32(20));
  if (view.getUint32(0) === 0x47494638) {
    return sizeOf(view.getUint16(6, true), view.getUint16(8, true));
  }
  return view.getUint16(0) === 0xffd8 ? jpegSize(view) : undefined;
}

/** Walks the segments up to the one that starts the frame. */
function jpegSize(view: DataView): ImageSize | undefined {
  let at = 2;
  while (at + 9 <= view.byteLength) {
    if (view.getUint8(at) !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return sizeOf(view.getUint16(at + 7), view.getUint16(at + 5));
    at += 2 + view.getUint16(at + 2);
  }
  return undefined;
}

function sizeOf(width: number, height: number): ImageSize | undefined {
  return width > 0 && height > 0 ? { width, height } : undefined;
}

function decodeStart(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const start = base64.slice(0, headerCharacters);
    return Uint8Array.from(atob(start.slice(0, start.length - (start.length % 4))), (byte) =>
      byte.charCodeAt(0),
    );
  } catch {
    return undefined;
  }
}
