// What four calls say about the points that a provider's documents leave open: how long an entry with mixed lifetimes
// lives, and whether a marker before the hit brings an expired entry back.
import { promptTokens, writtenTokens, type Usage } from "../../core/message/usage.ts";
import { findCost } from "../../core/models/cost.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { formatNumber } from "../../replay/format-figures.ts";
import { outputTokensMax } from "./smoke-checks.ts";

/** Whether the whole prefix outlived five minutes because a small part at its end was written for an hour. */
export type StepVerdict = "kept" | "lost" | "unclear";

/** Whether the head, whose own entry had expired, could be read again after a marker on it in a call that read further. */
export type HeadVerdict = "gone" | "came back" | "not tested";

export interface LifetimesVerdict {
  readonly step: StepVerdict;
  readonly head: HeadVerdict;
  /** A sentence for each. */
  readonly reasons: readonly string[];
}

/** The session of a trial's last call, which shares only the head with the others. */
export function afterName(id: string): string {
  return `${id}-after`;
}

/** The four calls in order: short markers, a long one at the end, after the pause, and one that shares only the head. */
export function judgeLifetimes(usages: readonly (Usage | null)[]): LifetimesVerdict {
  const [first, second, third, fourth] = usages;
  const obstacle = findObstacle(usages);
  if (obstacle !== null || !first || !second || !third) {
    return { step: "unclear", head: "not tested", reasons: [obstacle ?? "a call is missing"] };
  }
  const covered = second.cacheReadTokens + writtenTokens(second);
  const read = third.cacheReadTokens;
  const of = `${formatNumber(read)} of the ${formatNumber(covered)} tokens that call 2 covered`;
  if (read < nothing * covered) {
    const reason = `after the pause call 3 read ${of}: the entry died with its short part`;
    return { step: "lost", head: "not tested", reasons: [reason, notTested] };
  }
  if (read < nearly * covered) {
    const reason = `call 3 read ${of}: another entry may still have lived`;
    return { step: "unclear", head: "not tested", reasons: [reason] };
  }
  const kept = `after the pause call 3 read ${of}: the long part keeps the whole prefix`;
  if (!fourth) return { step: "kept", head: "not tested", reasons: [kept] };
  const isBack = fourth.cacheReadTokens > nothing * promptTokens(fourth);
  const back = `call 4 read ${formatNumber(fourth.cacheReadTokens)} of ${formatNumber(promptTokens(fourth))} tokens`;
  return {
    step: "kept",
    head: isBack ? "came back" : "gone",
    reasons: [
      kept,
      isBack
        ? `${back}: a marker before the hit brings an expired entry back`
        : `${back}: a marker before the hit brings no expired entry back`,
    ],
  };
}

const nearly = 0.9;
const nothing = 0.1;
const notTested =
  "whether a marker brings an expired entry back can be seen only where a longer one lives";

/** Why the calls show nothing; null if they do. */
function findObstacle(usages: readonly (Usage | null)[]): string | null {
  const [first, second] = usages;
  const failed = usages.indexOf(null);
  if (failed !== -1) return `call ${failed + 1} was not answered, or its usage was not reported`;
  if (!first || !second || usages.length < 3) return "a call is missing";
  if (first.cacheReadTokens > 0 || writtenTokens(first) === 0) return "call 1 wrote nothing new";
  if (second.cacheReadTokens === 0) return "call 2 did not read what call 1 wrote";
  if ((second.cacheWriteTokens["1h"] ?? 0) === 0) return "call 2 wrote nothing for an hour";
  return null;
}

/** What four calls on a prefix of this length cost at most; null if not known. */
export function trialCost(prefixTokens: number, model: ModelFacts, at: number): bigint | null {
  const talk = 4 * outputTokensMax;
  const made = { outputTokens: outputTokensMax, reasoningTokens: 0, uncachedTokens: 0 };
  const writing = { ...made, cacheReadTokens: 0, cacheWriteTokens: { "5m": prefixTokens + talk } };
  const reading = {
    ...made,
    cacheReadTokens: prefixTokens,
    cacheWriteTokens: { "1h": talk },
  };
  const costs = [writing, reading, writing, writing].map(
    (usage) => findCost(usage, model, { at }).cost?.totalPicoUsd ?? null,
  );
  return costs.reduce<bigint | null>(
    (sum, cost) => (sum === null || cost === null ? null : sum + cost),
    0n,
  );
}
