// Describes a call for people and scripts: its bill and the reason.
import type { Reason } from "./billing/bill.ts";
import type { Call } from "./call-ledger.ts";

/** The form of a call in GET /_sim/ledger. */
export function toCallView({ billed, ...call }: Call): object {
  const bill = billed?.bill;
  const tokens = billed && {
    total: billed.bill.totalTokens,
    read: billed.bill.readTokens,
    written: billed.bill.writeTokens,
    uncached: billed.bill.uncachedTokens,
    output: billed.outputTokens,
    reasoning: billed.reasoningTokens,
  };
  return {
    ...call,
    model: billed?.model ?? null,
    tokens,
    costUsd: billed?.costUsd ?? null,
    requestId: bill?.requestId ?? null,
    stopReason: billed?.stopReason ?? null,
    hitBlock: bill?.hitBlock ?? null,
    markers: bill?.markers ?? [],
    reason: bill?.reason ?? null,
    why: whyOf({ ...call, billed }),
  };
}

/** One line for a terminal. */
export function describeCall(call: Call): string {
  const { billed } = call;
  const place = `#${call.number} ${call.method} ${call.path} ${call.status}`;
  if (billed === null) return `${place}  ${whyOf(call)}`;
  const { bill, model, outputTokens, costUsd } = billed;
  const written = Object.entries(bill.writeTokens).map(([lifetime, n]) => `${n} for ${lifetime}`);
  const tokens = `read ${bill.readTokens}, written ${written.join(" + ") || "0"}`;
  const cost = costUsd ?? "no price";
  return `${place}  ${model}  ${tokens}, fresh ${bill.uncachedTokens}, out ${outputTokens}  ${cost}  ${whyOf(call)}`;
}

function whyOf(call: Call): string {
  if (call.problem !== null) return call.problem;
  const parts = [
    ...(call.billed === null ? [] : [describeReason(call.billed.bill.reason)]),
    ...(call.fault === null ? [] : [`fault: ${call.fault}`]),
    ...(call.refusal === null ? [] : [`refused: ${call.refusal}`]),
    ...(call.outcome === "left" ? ["the client left"] : []),
  ];
  return parts.join("; ") || "nothing is billed here";
}

export function describeReason(reason: Reason): string {
  switch (reason.kind) {
    case "hit":
      return `read what ${reason.writtenBy} wrote${reason.lifetime === null ? "" : ` for ${reason.lifetime}`}`;
    case "no marker":
      return "nothing asked for caching";
    case "below the minimum":
      return `shorter than the minimum of ${reason.minimumTokens} tokens`;
    case "never written":
      return "no earlier request wrote a prefix of this one";
    case "expired":
      return `what was written up to block ${reason.block} expired ${seconds(reason.agoMs)} ago`;
    case "not readable yet":
      return `${reason.writtenBy} wrote up to block ${reason.block}, but its response has not begun`;
    case "beyond lookback":
      return `an entry ends at block ${reason.block}, further back than any marker looks`;
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
