// Reads the whole body of a request before it is sent on, within limits for one request and for all together.
import type { IncomingMessage } from "node:http";

export type HeldBody =
  | { readonly kind: "whole"; readonly pieces: readonly Buffer[] }
  | { readonly kind: "too large" }
  /** Others hold too much. */
  | { readonly kind: "busy" }
  | { readonly kind: "client left" };

export interface BodyShelf {
  /** Calls `done` once. The bytes count until `release` is called. */
  hold(incoming: IncomingMessage, done: (held: HeldBody) => void): { readonly release: () => void };
}

/** How many bodies of the largest size may be held at once. */
const fullBodiesMax = 4;

export function createBodyShelf(bytesMax: number): BodyShelf {
  let heldBytes = 0;
  return {
    hold: (incoming, done) => {
      let pieces: Buffer[] = [];
      let ownBytes = 0;
      let isDone = false;
      const release = (): void => {
        heldBytes -= ownBytes;
        ownBytes = 0;
      };
      const finish = (held: HeldBody): void => {
        if (isDone) return;
        isDone = true;
        if (held.kind !== "whole") {
          pieces = [];
          release();
        }
        done(held);
      };
      if (Number(incoming.headers["content-length"] ?? 0) > bytesMax) {
        finish({ kind: "too large" });
        return { release };
      }
      incoming.on("data", (piece: Buffer) => {
        if (isDone) return;
        ownBytes += piece.byteLength;
        heldBytes += piece.byteLength;
        pieces.push(piece);
        if (ownBytes > bytesMax) finish({ kind: "too large" });
        else if (heldBytes > bytesMax * fullBodiesMax) finish({ kind: "busy" });
      });
      incoming.on("end", () => finish({ kind: "whole", pieces }));
      incoming.on("close", () => finish({ kind: "client left" }));
      return { release };
    },
  };
}
