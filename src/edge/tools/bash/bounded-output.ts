// Keeps a program's output within a limit while it prints: the beginning and the latest part.

export interface BoundedOutput {
  push(bytes: Uint8Array): void;
  text(): string;
  /** Dropped so far, between the beginning and the latest part. */
  droppedBytes(): number;
}

/** Half for the beginning, half for the end. The part between is counted. */
export function createBoundedOutput(bytesMax: number): BoundedOutput {
  const headMax = Math.ceil(bytesMax / 2);
  const tailMax = bytesMax - headMax;
  const head: Uint8Array[] = [];
  let headBytes = 0;
  let tail: Uint8Array[] = [];
  let tailBytes = 0;
  let droppedBytes = 0;

  function pushTail(bytes: Uint8Array): void {
    tail.push(bytes);
    tailBytes += bytes.length;
    // Trimmed at twice its size, so that printing byte by byte costs no more than printing in blocks.
    if (tailBytes > tailMax * 2 + 65_536 || tail.length > 10_000) trimTail();
  }

  function trimTail(): void {
    const all = Buffer.concat(tail);
    const kept = all.subarray(Math.max(0, all.length - tailMax));
    droppedBytes += all.length - kept.length;
    tail = [Buffer.from(kept)];
    tailBytes = kept.length;
  }

  return {
    push: (bytes) => {
      const room = headMax - headBytes;
      if (room > 0) {
        head.push(bytes.subarray(0, room));
        headBytes += Math.min(room, bytes.length);
      }
      if (bytes.length > room) pushTail(bytes.subarray(Math.max(0, room)));
    },
    text: () => {
      trimTail();
      if (droppedBytes === 0) return decode([...head, ...tail]);
      const gap = `\n\n[${droppedBytes} bytes of output were not kept]\n\n`;
      return decode(head) + gap + decode(tail);
    },
    droppedBytes: () => {
      trimTail();
      return droppedBytes;
    },
  };
}

/** Output need not be text. Invalid bytes become replacement characters. */
function decode(pieces: readonly Uint8Array[]): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(Buffer.concat(pieces));
}
