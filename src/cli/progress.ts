// A line of progress on a terminal; nothing if the output is not a terminal.
import type { Io } from "./command.ts";

export interface Progress {
  /** `what` replaces the text behind the bar. */
  update(done: number, total: number, what?: string): void;
  /** For work of unknown length. */
  tell(text: string): void;
  end(): void;
}

/** The shortest time between two updates. */
const intervalMs = 100;

export function createProgress(io: Pick<Io, "error">, what: string): Progress {
  const isShown = process.stderr.isTTY;
  let lastMs = 0;
  let width = 0;
  const show = (text: string): void => {
    io.error(`\r${text.padEnd(width)}`);
    width = text.length;
  };
  const isDue = (): boolean => {
    const nowMs = performance.now();
    if (!isShown || nowMs - lastMs < intervalMs) return false;
    lastMs = nowMs;
    return true;
  };
  return {
    update: (done, total, now = what) => {
      if (!isDue()) return;
      const share = total === 0 ? 1 : done / total;
      const filled = Math.round(share * 30);
      show(`${"█".repeat(filled)}${"░".repeat(30 - filled)} ${Math.floor(share * 100)} % ${now}`);
    },
    tell: (text) => {
      if (isDue()) show(text);
    },
    end: () => {
      if (isShown && width > 0) io.error(`\r${" ".repeat(width)}\r`);
    },
  };
}
