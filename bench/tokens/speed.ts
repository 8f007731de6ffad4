// Time and count of inputs that make ordinary tokenizers slow, against code and against the library.
import { countTokens as countUnguarded } from "gpt-tokenizer/encoding/o200k_base";
import { medianMsOf } from "../../harness/measure.ts";
import type { TextCounter } from "../../src/core/tokens/o200k/counter.ts";

/** Milliseconds per input, medians of interleaved rounds. */
export function timeInputs(
  inputs: Readonly<Record<string, string>>,
  counter: TextCounter,
): Promise<Readonly<Record<string, number>>> {
  const candidates = Object.fromEntries(
    Object.entries(inputs).map(([name, text]) => [name, () => counter.count(text)]),
  );
  return medianMsOf(candidates, { rounds: 15, warmups: 2 });
}

/** |ours - library's| / library's. Both treat special tokens as text. */
export function countError(text: string, counter: TextCounter): number {
  const unguarded = countUnguarded(text, { disallowedSpecial: new Set() });
  return Math.abs(counter.count(text) - unguarded) / unguarded;
}
