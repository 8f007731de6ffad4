// policies: the layout of prompts and the places of cache markers.
import type { Layout } from "../../assembly/layout.ts";
import { policyNames, type PolicyName } from "../../cache/policy.ts";
import { choice, optionalChoice, optionalNumber } from "../leaves.ts";
import { group } from "../sections.ts";
import type { Spec } from "../spec.ts";

export interface PoliciesConfig {
  readonly default: PolicyName;
  readonly layout: LayoutConfig;
  readonly keepWarm: KeepWarmConfig;
}

export interface KeepWarmConfig {
  /** Null if sessions are not kept warm. */
  readonly usdPerHour: number | null;
}

/** Null for the policy's own. */
export type LayoutConfig = {
  readonly [Part in "volatile" | "padding" | "toolOrder"]: Layout[Part] | null;
};

const layout: Spec<LayoutConfig> = group("replaces parts of the policy's layout", {
  volatile: optionalChoice(
    ["message-tail", "system-message", "system-tail", "message-head"],
    "where text goes that may change on any call",
  ),
  padding: optionalChoice(
    ["auto", "always", "off"],
    "whether a prefix that is too short to be cached is made longer",
  ),
  toolOrder: optionalChoice(["sorted", "given"], "the order in which tools are sent"),
});

const keepWarm: Spec<KeepWarmConfig> = group(
  "refreshing the cache of a session that waits, where that saves money",
  {
    usdPerHour: optionalNumber(
      "a number of dollars above 0, at most 1000000",
      (dollars) => dollars > 0 && dollars <= 1_000_000,
      "the most that refreshes may cost in an hour, over all sessions of the ledger; default: off",
    ),
  },
);

export const policies: Spec<PoliciesConfig> = group("the layout and caching of prompts", {
  default: choice(policyNames, "adaptive", "the policy of agents without their own"),
  layout,
  keepWarm,
});
