// Every policy by name: ours, layouts that other agents use (metis, nexo, hermes, nexus), and what clients and providers commonly do.
import { didYouMean } from "../nearest-names.ts";
import type { Layout } from "../assembly/layout.ts";
import type { Lifetime } from "../message/usage.ts";
import { StrataError } from "../strata-error.ts";
import {
  policyNames,
  type MarkerPlace,
  type MarkerRule,
  type Policy,
  type PolicyName,
} from "./policy.ts";

const ourLayout: Layout = {
  systemBlocks: "by stability",
  volatile: "message-tail",
  padding: "off",
  toolOrder: "sorted",
};

/** What most other clients do: the system prompt ends with the volatile text. */
const usualLayout: Layout = {
  systemBlocks: "by stability",
  volatile: "system-tail",
  padding: "off",
  toolOrder: "given",
};

const policies: Readonly<Record<PolicyName, Omit<Policy, "name">>> = {
  adaptive: {
    summary: "least expected cost under this agent's pace; a small long-lived step bridges pauses",
    layout: ourLayout,
    markers: { kind: "least-cost" },
  },
  metis: {
    summary:
      "end of tools, stable system prompt and tail for 5m; memory ends the system prompt, and no time is sent",
    layout: { ...usualLayout, systemBlocks: "one", padding: "always", volatileText: "memory" },
    markers: rules(
      [{ at: "last stable system block" }, "5m"],
      [{ at: "tail" }, "5m"],
      [{ at: "last tool" }, "5m"],
    ),
  },
  nexo: {
    summary: "labelled system blocks for 1h, the channel's for 5m, sorted tools for 1h; no history",
    layout: { ...usualLayout, systemBlocks: "labelled", toolOrder: "sorted" },
    markers: rules(
      [{ at: "last stable system block" }, "1h"],
      [{ at: "system block", label: "channel_meta" }, "5m"],
      [{ at: "last tool" }, "1h"],
    ),
  },
  hermes: {
    summary:
      "static system block for 1h, session block for 5m, last tool and last messages in what is left",
    layout: usualLayout,
    markers: rules(
      [{ at: "last tool" }, "5m"],
      [{ at: "system block", label: "static" }, "1h"],
      [{ at: "system block", label: "session" }, "5m"],
      [{ at: "last messages", count: 3 }, "5m"],
    ),
  },
  nexus: {
    summary: "one system prompt, the history, and the event's context in the final message",
    layout: { ...usualLayout, systemBlocks: "one", volatile: "message-head" },
    markers: rules([{ at: "last stable system block" }, "5m"], [{ at: "tail" }, "5m"]),
  },
  "tail-5m": {
    summary: "one moving marker at the tail, 5m",
    layout: ourLayout,
    markers: rules([{ at: "tail" }, "5m"]),
  },
  "tail-1h": {
    summary: "one moving marker at the tail, 1h",
    layout: ourLayout,
    markers: rules([{ at: "tail" }, "1h"]),
  },
  automatic: {
    summary: "one marker for the whole request, placed by the provider",
    layout: ourLayout,
    markers: rules([{ at: "request" }, "5m"]),
  },
  "latest-user": {
    summary: "end of the system prompt and the latest user message, 5m",
    layout: ourLayout,
    markers: rules([{ at: "latest user" }, "5m"], [{ at: "last stable system block" }, "5m"]),
  },
  "last-n": {
    summary: "end of the system prompt and the last three messages, 5m",
    layout: ourLayout,
    markers: rules(
      [{ at: "last messages", count: 3 }, "5m"],
      [{ at: "last stable system block" }, "5m"],
    ),
  },
  "system-only": {
    summary: "end of the tools and of the system prompt, 5m",
    layout: ourLayout,
    markers: rules([{ at: "last stable system block" }, "5m"], [{ at: "last tool" }, "5m"]),
  },
  none: {
    summary: "no markers",
    layout: ourLayout,
    markers: { kind: "rules", rules: [] },
  },
};

export function listPolicies(): readonly Policy[] {
  return policyNames.map((name) => ({ name, ...policies[name] }));
}

/** Finds a policy by name. Throws for an unknown one, with the nearest names. */
export function findPolicy(name: string): Policy {
  const known = policyNames.find((each) => each === name);
  if (known !== undefined) return { name: known, ...policies[known] };
  throw new StrataError(
    "usage",
    `there is no policy "${name}"`,
    didYouMean(name, policyNames, `choose one of ${policyNames.join(", ")}`, 2),
  );
}

function rules(...pairs: readonly (readonly [MarkerPlace, Lifetime])[]): Policy["markers"] {
  return {
    kind: "rules",
    rules: pairs.map(([place, lifetime]): MarkerRule => ({ place, lifetime })),
  };
}
