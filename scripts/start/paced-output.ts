// Prints text piece by piece, like typing. Only for a person at a terminal, never on a pipe.
import { setTimeout as sleep } from "node:timers/promises";

export interface PacedOutput {
  readonly write: (text: string) => void;
  /** Resolves when all output so far was shown. */
  readonly seen: () => Promise<void>;
}

export function createPacedOutput(show: (text: string) => void): PacedOutput {
  let shown = Promise.resolve();
  const showAll = async (text: string): Promise<void> => {
    for (const { piece, waitMs } of toPieces(text)) {
      show(piece);
      await sleep(waitMs);
    }
  };
  return {
    write: (text) => {
      shown = shown.then(() => showAll(text));
    },
    seen: () => shown,
  };
}

interface Piece {
  readonly piece: string;
  readonly waitMs: number;
}

/** Typed text by character, all other text by line. */
function toPieces(text: string): readonly Piece[] {
  return text.split(/(?<=\n)/).flatMap((line) => {
    const typed = /^((?:\u001b\[\d+m)*> )(.*\n)$/s.exec(line); // oxlint-disable-line no-control-regex
    if (typed === null) return [{ piece: line, waitMs: lineMs }];
    const [, prompt = "", words = ""] = typed;
    return [
      { piece: prompt, waitMs: pauseMs },
      ...Array.from(words, (piece) => ({ piece, waitMs: keyMs })),
    ];
  });
}

const lineMs = 25;
const keyMs = 20;
const pauseMs = 400;
