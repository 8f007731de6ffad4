// What a provider says about its cache, beside our own verdict.
import type { PayloadOf } from "../events/event.ts";

export interface ProviderDiagnosis {
  /** In its own words; `no difference` if it found none. */
  readonly says: string;
  readonly agreement: Agreement;
}

/** `not comparable`: the provider compared nothing, or what it found lost nothing that is worth a report. */
export type Agreement = "agrees" | "differs" | "not comparable";

type Cause = PayloadOf<"cache.miss">["cause"];

export interface HeardDiagnosis {
  /** Null if it found no difference. */
  readonly says: string | null;
  /** Our own verdict; null for no miss. */
  readonly cause: Cause | null;
  /** Whether the prompt before ended with text that is not sent again. */
  readonly hasOwnEnd: boolean;
}

export function compareDiagnosis({ says, cause, hasOwnEnd }: HeardDiagnosis): ProviderDiagnosis {
  // A provider's reply may hold anything.
  const isWord = says === null || /^\w{1,100}$/.test(says);
  const word = isWord ? (says ?? noDifference) : "unreadable";
  return { says: word, agreement: agreementOf(word, cause, hasOwnEnd) };
}

const noDifference = "no difference";

function agreementOf(word: string, cause: Cause | null, hasOwnEnd: boolean): Agreement {
  if (uncompared.includes(word)) return "not comparable";
  if (cause === null) return word === noDifference ? "agrees" : "not comparable";
  if (wordsOf[cause].includes(word)) return "agrees";
  // Only a setting differs, or the comparison lies too far back.
  if (word === "unavailable") return "not comparable";
  // The earliest change that it saw may be that end.
  return hasOwnEnd && messageWords.includes(word) ? "not comparable" : "differs";
}

const messageWords: readonly string[] = ["messages_changed", "input_changed"];

/** They say that nothing was compared. */
const uncompared: readonly string[] = [
  "pending",
  "previous_message_not_found",
  "comparison_response_not_found",
  "unreadable",
];

const settings = [
  "reasoning_effort_changed",
  "verbosity_changed",
  "text_format_changed",
  "prompt_cache_key_changed",
  "service_tier_changed",
];

/** The prompt was the same; what was lost, was lost by time, by rules or by the provider. */
const same = [noDifference, "unavailable"];

/** The providers' words for each of our causes. */
const wordsOf: Readonly<Record<Cause, readonly string[]>> = {
  "first call": same,
  "model changed": ["model_changed", "service_tier_changed"],
  "tools changed": ["tools_changed"],
  "tools reordered": ["tools_changed"],
  "system changed": ["system_changed", "input_changed"],
  "history rewritten": ["messages_changed", "input_changed", "context_compacted"],
  // Providers report a change of parallel tool use as changed tools.
  "parameter changed": ["unavailable", "tools_changed", ...settings],
  "beta header changed": ["unavailable"],
  "lifetime expired": same,
  "below the minimum": same,
  "beyond lookback": same,
  "written concurrently": same,
  "nothing was marked": same,
  "no slot for a marker": same,
  "provider lost it": same,
  "another host": same,
  "stored prefix gone": same,
  "changed after the head": ["messages_changed", "input_changed", "system_changed", "unavailable"],
};
