// Calls that passed through the gateway and are not in the ledger: counted, reported, and recorded as an event.
import type { PayloadOf } from "../../core/events/event.ts";
import { redact } from "../../core/events/redact.ts";
import type { GatewayRun } from "../../core/ledger/gateway-call.ts";

export interface RecordingLoss {
  readonly cause:
    /** Calls came faster than they could be written. */
    | "queue full"
    /** The ledger took no calls for too long. */
    | "store failed"
    /** Calls that no ledger could take. */
    | "not storable"
    /** An earlier process was killed, and what it saw last may be missing. */
    | "killed";
  /** Null if unknown. */
  readonly lostCount: number | null;
  /** When the first and the last of them ended. */
  readonly fromMs: number;
  readonly untilMs: number;
  /** The ledger's message, if there is one. */
  readonly problem: string | null;
}

/** One sentence for people. */
export function describeLoss({
  cause,
  lostCount,
  fromMs,
  untilMs,
  problem,
}: RecordingLoss): string {
  const times = `${toIso(fromMs)} and ${toIso(untilMs)}`;
  if (cause === "killed") {
    const known = lostCount === null || lostCount === 0 ? "" : `, and ${lostCount} before`;
    return `the gateway was killed between ${times}: calls that ended then may be missing in the ledger${known}`;
  }
  const calls = lostCount === 1 ? "1 call is" : `${String(lostCount)} calls are`;
  const why = { "queue full": "they came too fast", "store failed": "it could not be written" };
  const said = problem === null ? "" : ` (${problem})`;
  const reason = cause === "not storable" ? "no ledger can take them" : why[cause];
  return `${calls} missing in the ledger, ended between ${times}: ${reason}${said}`;
}

export function toLossPayload(loss: RecordingLoss): PayloadOf<"gateway.calls_lost"> {
  return {
    cause: spelled[loss.cause],
    lost_call_count: loss.lostCount,
    from: toIso(loss.fromMs),
    until: toIso(loss.untilMs),
    error_message_redacted: loss.problem === null ? null : redact(loss.problem),
  };
}

const spelled = {
  "queue full": "queue_full",
  "store failed": "store_failed",
  "not storable": "not_storable",
  killed: "killed",
} as const;

/** The calls that it could not write any more fall between its last sign of life and the time when it was found. */
export function toKilledLoss({ beatMs, endedMs, lostCount }: GatewayRun): RecordingLoss {
  const untilMs = endedMs ?? beatMs;
  return { cause: "killed", lostCount, fromMs: beatMs, untilMs, problem: null };
}

/** Adds one more. Losses of one cause are added up until they are reported. */
export function addLoss(
  losses: readonly RecordingLoss[],
  more: RecordingLoss,
): readonly RecordingLoss[] {
  const known = losses.find(({ cause }) => cause === more.cause);
  if (known === undefined || more.cause === "killed") return [...losses, more];
  const sum: RecordingLoss = {
    cause: known.cause,
    lostCount: (known.lostCount ?? 0) + (more.lostCount ?? 0),
    fromMs: Math.min(known.fromMs, more.fromMs),
    untilMs: Math.max(known.untilMs, more.untilMs),
    problem: more.problem ?? known.problem,
  };
  return losses.map((each) => (each === known ? sum : each));
}

function toIso(ms: number): string {
  return new Date(ms).toISOString();
}
