// Asks before something is deleted or changed for good.
import { createInterface } from "node:readline/promises";
import { StrataError } from "../core/strata-error.ts";

/** False when the user says no. Throws if there is no terminal to ask on. */
export async function confirm(question: string, isGiven: boolean): Promise<boolean> {
  if (isGiven) return true;
  if (!canAsk()) {
    throw new StrataError(
      "usage",
      `${question} There is no terminal to ask on`,
      "add --yes; nothing was changed",
    );
  }
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(?:es)?$/i.test((await reader.question(`${question} [y/N] `)).trim());
  } finally {
    reader.close();
  }
}

/** Whether there is a terminal to ask on. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}
