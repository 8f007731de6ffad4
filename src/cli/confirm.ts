// Asking before something is gone for good.
import { createInterface } from "node:readline/promises";
import { StrataError } from "../core/strata-error.ts";

/** False when the user says no. Where nobody can be asked, refuses. */
export async function confirm(question: string, isGiven: boolean): Promise<boolean> {
  if (isGiven) return true;
  if (!canAsk()) {
    throw new StrataError(
      "usage",
      `${question} Nobody is at a terminal to answer`,
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

/** Whether somebody is there to answer. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}
