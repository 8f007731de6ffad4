// policies: the layout of prompts and the places of cache markers.
import type { Layout } from "../../assembly/layout.ts";
import { policyNames, type PolicyName } from "../../cache/policy.ts";
import { choice, optionalChoice, optionalNumber } from "../leaves.ts";
import { group } from "../sections.ts";
import type { Spec } from "../spec.ts";

export interface PoliciesConfig {
  readonly default: PolicyName;
  readonly layout: LayoutConfig;
  readonly keepWarm: HourlyBudget;
  readonly storedPrefix: HourlyBudget;
}

export interface HourlyBudget {
  /** Null if it is off. */
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

function hourlyBudget(what: string, most: string): Spec<HourlyBudget> {
  return group(what, {
    usdPerHour: optionalNumber(
      "a number of dollars above 0, at most 1000000",
      (dollars) => dollars > 0 && dollars <= 1_000_000,
      `${most} in an hour, over all sessions of the ledger; default: off`,
    ),
  });
}

const keepWarm = hourlyBudget(
  "refreshing the cache of a session that waits, where that saves money",
  "the most that refreshes may cost",
);

const storedPrefix = hourlyBudget(
  "having a provider keep the beginning of a session's prompt under a name, where that saves money",
  "the most that making and keeping stored prefixes may cost",
);

export const policies: Spec<PoliciesConfig> = group("the layout and caching of prompts", {
  default: choice(policyNames, "adaptive", "the policy of agents without their own"),
  layout,
  keepWarm,
  storedPrefix,
});
