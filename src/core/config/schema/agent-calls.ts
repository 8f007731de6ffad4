// agents.<id>: how its calls are made: pace, effort, thinking, temperature, length of replies and turns.
import type { PaceKind } from "../../cache/pace.ts";
import { anything, optionalChoice, optionalNumber, optionalWhole, text } from "../leaves.ts";
import { converted, group, written } from "../sections.ts";
import type { Spec } from "../spec.ts";

/** Null for the default. */
export interface CallsConfig {
  readonly pace: PaceKind | null;
  readonly effort: string | null;
  /** In the provider's own spelling. */
  readonly thinking: unknown;
  readonly temperature: number | null;
  readonly replyTokensMax: number | null;
  readonly callsMax: number | null;
  readonly reserves: ReservesConfig;
}

interface ReservesConfig {
  readonly responseTokens: number | null;
  readonly toolTokens: number | null;
}

const paces = {
  human: "human",
  "tool-loop": "tool loop",
  worker: "worker",
  cron: "cron",
  "one-shot": "one-shot",
} as const satisfies Record<string, PaceKind>;

const pace: Spec<PaceKind | null> = converted(
  optionalChoice(
    ["human", "tool-loop", "worker", "cron", "one-shot"],
    "what usually causes its next call, until its own calls show it; default: human",
  ),
  (name) => (name === null ? null : paces[name]),
);

const reserves: Spec<ReservesConfig> = group("the part of the window that stays free", {
  responseTokens: optionalWhole({ min: 0 }, "for the reply; default: 8000"),
  toolTokens: optionalWhole({ min: 0 }, "for tool results of the turn; default: 16000"),
});

export const calls: { readonly [Key in keyof CallsConfig]: Spec<CallsConfig[Key]> } = {
  pace,
  effort: text("how hard the model thinks, if it takes this option, as low or high"),
  thinking: anything("thinking settings in the provider's own spelling, as { type: adaptive }"),
  temperature: optionalNumber(
    "a number from 0 to 2",
    (value) => value >= 0 && value <= 2,
    "how varied replies are, if the model takes this option",
  ),
  replyTokensMax: optionalWhole({ min: 1 }, "the longest reply; default: 16000"),
  callsMax: written(
    "calls_per_turn_max",
    optionalWhole({ min: 1 }, "a turn ends after this many calls; default: 50"),
  ),
  reserves,
};
