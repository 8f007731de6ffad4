// The simulator's record of every request: its bill, how it ended, and a description for people and scripts.
import type { CallRecord } from "./surface.ts";
import type { Reason } from "./billing/bill.ts";

export interface Call {
  /** From 1, in order of arrival. */
  readonly number: number;
  readonly startMs: number;
  readonly method: string;
  readonly path: string;
  /** Null if no surface has the path. */
  readonly surface: string | null;
  /** A hash of the client's key; null without a key. */
  readonly workspace: string | null;
  readonly status: number;
  readonly outcome: CallOutcome;
  readonly fault: string | null;
  readonly refusal: string | null;
  /** What went wrong in the simulator, such as a script that did not match. */
  readonly problem: string | null;
  readonly billed: CallRecord | null;
}

export type CallOutcome =
  | "under way"
  | "answered"
  | "refused"
  /** The client disconnected before the end. */
  | "left"
  | "cut";

export interface CallLedger {
  /** Adds a call; the result updates it while it runs. */
  open(call: Omit<Call, "number">): (change: Partial<Call>) => void;
  list(): readonly Call[];
  /** Number of old calls dropped to limit memory. */
  readonly dropped: number;
}

export function createCallLedger(callsMax: number, onClose: (call: Call) => void): CallLedger {
  const calls = new Map<number, Call>();
  let count = 0;
  let dropped = 0;
  return {
    open: (first) => {
      count += 1;
      const number = count;
      let call: Call = { ...first, number };
      calls.set(number, call);
      for (const oldest of calls.keys()) {
        if (calls.size <= callsMax) break;
        calls.delete(oldest);
        dropped += 1;
      }
      return (change) => {
        if (call.outcome !== "under way") return;
        call = { ...call, ...change };
        if (calls.has(number)) calls.set(number, call);
        if (call.outcome !== "under way") onClose(call);
      };
    },
    list: () => [...calls.values()],
    get dropped() {
      return dropped;
    },
  };
}

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
    ...(billed?.host === undefined ? {} : { host: billed.host }),
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

/** One line for a terminal. `nameOf` may replace the id of a request by something shorter. */
export function describeCall(call: Call, nameOf: (requestId: string) => string = same): string {
  const { billed } = call;
  const place = `#${call.number} ${call.method} ${call.path} ${call.status}`;
  if (billed === null) return `${place}  ${whyOf(call, nameOf)}`;
  const { bill, outputTokens, costUsd } = billed;
  const model = billed.host === undefined ? billed.model : `${billed.model} at ${billed.host}`;
  const written = Object.entries(bill.writeTokens).map(
    ([lifetime, n]) => `${spell(n)} for ${lifetime}`,
  );
  const tokens = `read ${spell(bill.readTokens)}, written ${written.join(" + ") || "0"}`;
  const cost = costUsd ?? "no price";
  return `${place}  ${model}  ${tokens}, fresh ${spell(bill.uncachedTokens)}, out ${spell(outputTokens)}  ${cost}  ${whyOf(call, nameOf)}`;
}

function spell(tokens: number): string {
  return tokens.toLocaleString("en-US");
}

function same(requestId: string): string {
  return requestId;
}

function whyOf(call: Call, nameOf: (requestId: string) => string = same): string {
  if (call.problem !== null) return call.problem;
  const parts = [
    ...(call.billed === null ? [] : [describeReason(call.billed.bill.reason, nameOf)]),
    ...(call.fault === null ? [] : [`fault: ${call.fault}`]),
    ...(call.refusal === null ? [] : [`refused: ${call.refusal}`]),
    ...(call.outcome === "left" ? ["the client left"] : []),
  ];
  return parts.join("; ") || "nothing is billed here";
}

export function describeReason(
  reason: Reason,
  nameOf: (requestId: string) => string = same,
): string {
  switch (reason.kind) {
    case "hit":
      return `read what ${nameOf(reason.writtenBy)} wrote${reason.lifetime === null ? "" : ` for ${reason.lifetime}`}`;
    case "no marker":
      return "nothing asked for caching";
    case "below the minimum":
      return `shorter than the minimum of ${reason.minimumTokens} tokens`;
    case "never written":
      return "no earlier request wrote a prefix of this one";
    case "expired":
      return `what was written up to block ${reason.block} expired ${seconds(reason.agoMs)} ago`;
    case "not readable yet":
      return `${nameOf(reason.writtenBy)} wrote up to block ${reason.block}, but its response has not begun`;
    case "beyond lookback":
      return `an entry ends at block ${reason.block}, further back than any marker looks`;
    case "stored prefix":
      return `${reason.isRead ? "read" : "stored"} ${reason.name}`;
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
