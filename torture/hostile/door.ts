// A door is a place where text, bytes or files of others enter. Each has inputs of its own and says what came out.
import type { Random } from "../../harness/random-message.ts";
import { exitStatusOf, StrataError } from "../../src/core/strata-error.ts";

export interface Door {
  readonly name: string;
  /** Inputs in a run of 1,000,000. */
  readonly quota: number;
  /** Inputs that share one state, which is new at the first of them. 1 by default. */
  readonly block?: number;
  /** `folder` is empty and the door's own. Everything else on disk belongs to the canary. */
  open(folder: string): Promise<OpenDoor> | OpenDoor;
}

export interface OpenDoor {
  /** Called before the first input of a block. */
  reset?(): Promise<void> | void;
  /** Makes one input and gives it to the product. Throws what the product throws. */
  attempt(random: Random, number: number): Promise<Outcome> | Outcome;
  close?(): Promise<void> | void;
}

export interface Outcome {
  /** Whether the product took the input; a refusal can also be thrown. */
  readonly isAccepted: boolean;
  /** Everything that a person or another program could see. */
  readonly outputs: readonly string[];
  /** Refusals that are values, and not thrown. */
  readonly refusals?: readonly Refusal[];
}

export interface Refusal {
  /** The product's word for it. Undefined if it has none. */
  readonly code: string | undefined;
  /** What to do, or what was wrong where the form has no place for more. */
  readonly hint: string | undefined;
}

export type FaultKind = "crash" | "hang" | "key" | "outside" | "hint";

export interface Fault {
  readonly door: string;
  readonly number: number;
  readonly kind: FaultKind;
  readonly detail: string;
}

/** What an error proves: a fault, or nothing for a refusal as it should be. */
export function judgeError(error: unknown): Pick<Fault, "kind" | "detail"> | null {
  if (!(error instanceof StrataError)) {
    return { kind: "crash", detail: error instanceof Error ? stackOf(error) : String(error) };
  }
  if (!(error.code in exitStatusOf)) return { kind: "hint", detail: `code ${error.code}` };
  return judgeRefusal({ code: error.code, hint: error.hint }) ?? judgeWords(error.message);
}

export function judgeRefusal({ code, hint }: Refusal): Pick<Fault, "kind" | "detail"> | null {
  if (code === undefined || code === "")
    return { kind: "hint", detail: "a refusal without a code" };
  if (hint === undefined || hint.trim() === "") {
    return { kind: "hint", detail: `a refusal without a hint: ${code}` };
  }
  return judgeWords(hint);
}

/** Errors of the language inside of a polite refusal: they were caught, and are still mistakes. */
function judgeWords(text: string): Pick<Fault, "kind" | "detail"> | null {
  const found = mistakes.exec(text);
  return found === null ? null : { kind: "crash", detail: `a refusal says: ${text.slice(0, 300)}` };
}

const mistakes =
  /Cannot (?:read|set|destructure|convert|mix|access)|is not (?:a function|iterable|a constructor)|Maximum call stack|Invalid (?:array|string|typed array) length|Invalid time value|out of memory|Assertion failed|mistake of Strata/;

/** All texts of an error, for the search for keys. */
export function textsOf(error: unknown): readonly string[] {
  if (!(error instanceof Error)) return [String(error)];
  const hint = error instanceof StrataError ? [error.hint] : [];
  const cause = error.cause === undefined ? [] : textsOf(error.cause);
  return [error.message, ...hint, ...cause];
}

function stackOf(error: Error): string {
  return (error.stack ?? error.message).split("\n").slice(0, 4).join(" | ").slice(0, 600);
}
