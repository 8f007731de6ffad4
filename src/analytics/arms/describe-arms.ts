// The comparison of both arms in sentences for people: what is claimed, and where nothing is.
import type { Label } from "../analysis.ts";
import type { ArmsFigures } from "./read-arms.ts";

/** Further groups are counted. */
const groupsMax = 5;

export function describeArms(all: ReadonlyMap<Label, ArmsFigures>): readonly string[] {
  const inOrder = [...all].toSorted(
    ([, left], [, right]) => right.strata_call_count - left.strata_call_count,
  );
  const lines = inOrder
    .slice(0, groupsMax)
    .flatMap(([label, arms]) => [describe(label, arms), account(label, arms)]);
  const more = inOrder.length - groupsMax;
  return more > 0 ? [...lines, `both arms of ${counted(more, "more row")} are in --json`] : lines;
}

function describe(label: Label, arms: ArmsFigures): string {
  const { claim, reason, strata_cost_share: strata, holdout_cost_share: holdout } = arms;
  const { saved_share: saved, saved_share_low: low, saved_share_high: high } = arms;
  const about = `${nameOf(label)}${counted(arms.strata_conversation_count, "optimised conversation")}${shareOf(strata)}, ${arms.holdout_conversation_count} held out${shareOf(holdout)}`;
  const within =
    low === null || high === null
      ? ""
      : ` (${percent(low)} to ${percent(high)} less with ${percent(arms.confidence)} confidence)`;
  if (claim === null || saved === null) return `${about}; nothing is claimed: ${reason}${within}`;
  const by = percent(Math.abs(saved));
  return `${about}; optimising cost ${by} ${claim === "cheaper" ? "less" : "more"}${within}`;
}

function shareOf(share: number | null): string {
  return share === null ? "" : ` at ${percent(share)} of their cost without a cache`;
}

/** By the account that the gateway keeps of the client's own markers. */
function account(label: Label, arms: ArmsFigures): string {
  const calls = counted(arms.compared_call_count, "call");
  return `${nameOf(label)}${calls} of those optimised cost $${arms.compared_cost_usd}, and with the clients' own markers $${arms.client_cost_usd} by the gateway's account`;
}

function nameOf(label: Label): string {
  return label === "all" ? "" : `${String(label ?? "unknown")}: `;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
