// policies: how prompts are laid out and where cache markers go.
import { choice, optionalChoice } from "../leaves.ts";
import { policyNames, type PolicyName } from "../../cache/policy.ts";
import { section } from "../sections.ts";
import type { Spec } from "../spec.ts";

export interface PoliciesConfig {
  readonly default: PolicyName;
  readonly layout: LayoutConfig;
}

/** Null where the policy's own layout holds. */
export interface LayoutConfig {
  readonly volatile: "message-tail" | "system-message" | "system-tail" | "message-head" | null;
  readonly padding: "auto" | "always" | "off" | null;
  readonly toolOrder: "sorted" | "given" | null;
}

const layout: Spec<LayoutConfig> = section(
  "instead of the policy's own layout",
  {
    volatile: optionalChoice(
      ["message-tail", "system-message", "system-tail", "message-head"],
      "where text stands that may change on any call",
    ),
    padding: optionalChoice(
      ["auto", "always", "off"],
      "whether a prefix that is too short to be cached is made longer",
    ),
    tool_order: optionalChoice(["sorted", "given"], "in which order tools are sent"),
  },
  (get) => ({
    volatile: get("volatile"),
    padding: get("padding"),
    toolOrder: get("tool_order"),
  }),
);

export const policies: Spec<PoliciesConfig> = section(
  "how prompts are laid out and cached",
  {
    default: choice(policyNames, "adaptive", "the policy of every agent that has none of its own"),
    layout,
  },
  (get) => ({ default: get("default"), layout: get("layout") }),
);
