// Plans for requests that only keep or write a cache: the refresh of a sent prompt, and the first write of a prefix.
import type { BlockList } from "../assembly/prompt-block.ts";
import type { Lifetime } from "../message/usage.ts";
import type { CachePlan } from "./cache-plan.ts";
import { createRuler } from "./cache-state.ts";
import { entriesByBlock, expectBill } from "./expect-bill.ts";
import { planCache, toExpectation, type PlanQuestion } from "./plan-cache.ts";
import type { MarkerPlace, MarkerRule } from "./policy.ts";
import { findReadable } from "./prompt-contents.ts";

type Situation = Pick<PlanQuestion, "blocks" | "rules" | "state" | "now">;

/** The same markers again, with what the provider should read and write now. */
export function planRefresh(plan: CachePlan, { blocks, rules, state, now }: Situation): CachePlan {
  const { cache } = rules;
  const bill = expectBill({
    blocks,
    rules: cache,
    ruler: createRuler(blocks, state.measured),
    markers: plan.markers,
    requestMarker: plan.requestMarker,
    mode: plan.mode ?? "implicit",
    entries: entriesByBlock(findReadable(state, blocks, cache).entries),
    nowMs: now,
  });
  return { ...plan, expected: toExpectation(bill, { rules, now }) };
}

/**
 * Markers at the ends of the tools, the system text and the conversation, because a later call reads as far as it
 * repeats them. A provider's own marker would stand after them, on words that no later call repeats.
 */
export function planPrewarm(
  question: Situation & Pick<PlanQuestion, "pace">,
  lifetime: Lifetime,
): CachePlan {
  const rules = prewarmPlaces.map((place): MarkerRule => ({ place, lifetime }));
  const plan = planCache({ ...question, markers: { kind: "rules", rules } });
  const mode = plan.mode === null ? null : "explicit";
  return planRefresh({ ...plan, mode }, question);
}

const prewarmPlaces: readonly MarkerPlace[] = [
  { at: "last stable system block" },
  { at: "tail" },
  { at: "last tool" },
];

/** The first blocks of a list. */
export function firstBlocks(blocks: BlockList, length: number): BlockList {
  const at: BlockList["at"] = (index) =>
    index >= length ? undefined : blocks.at(index < 0 ? length + index : index);
  return { length, at };
}
