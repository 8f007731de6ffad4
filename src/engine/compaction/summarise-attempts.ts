// Attempts at one summary. Each is checked; each retry names the faults of the attempt before.
import { retryInstruction } from "../../core/compaction/summary/instruction.ts";
import {
  judgeSummary,
  lostIdentifiers,
  type SummaryDemands,
  addIdentifiers,
} from "../../core/compaction/summary/judge.ts";
import type { Message } from "../../core/message/message.ts";
import { isRetryable, type ProviderFailure } from "../../core/wire/failure.ts";
import { askForSummary, type Speaker } from "./summarise-call.ts";
import type { CallDeps } from "./side-call.ts";
import type { SummaryCall } from "../../core/session/summary-bill.ts";
import { cancelledByCaller } from "../../core/turn/compaction/apply-compaction-result.ts";

export interface SummaryQuestion {
  readonly speaker: Speaker;
  /** The question with its instruction. Retries have a longer instruction. */
  readonly messages: (instruction: string) => readonly Message[];
  readonly instruction: string;
  readonly demands: SummaryDemands;
}

export interface AttemptDeps extends CallDeps {
  /** Waits; an abort ends the wait at once. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** `overflow`: the part to summarise does not fit. `refused`: the model answered, but no answer passed the checks. */
export type SummaryFailure = "cancelled" | "overflow" | "provider" | "refused";

export type Attempted = (
  | { readonly kind: "summary"; readonly text: string }
  | { readonly kind: "failed"; readonly why: SummaryFailure; readonly reasons: readonly string[] }
) & { readonly calls: readonly SummaryCall[]; readonly speaker: Speaker };

const attemptsMax = 3;
const backoffMsBase = 1_000;
/** A longer wait than this ends the attempts. */
const waitMsMax = 60_000;

export async function runSummaryAttempts(
  question: SummaryQuestion,
  deps: AttemptDeps,
): Promise<Attempted> {
  const { demands } = question;
  const calls: SummaryCall[] = [];
  /** The faults of each attempt. */
  const wrongs: string[] = [];
  let { speaker } = question;
  let more = "";
  const fail = (why: SummaryFailure): Attempted => ({
    kind: "failed",
    why,
    reasons: [...toReasons(wrongs), ...(why === "cancelled" ? [cancelledByCaller] : [])],
    calls,
    speaker,
  });
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    if (isCancelled(deps)) return fail("cancelled");
    const messages = question.messages(question.instruction + more);
    const asked = await askForSummary(speaker, messages, deps);
    calls.push(asked.call);
    ({ speaker } = asked);
    const { answer } = asked;
    const isLast = attempt === attemptsMax;
    if (answer.kind === "failure") {
      const { failure } = answer;
      if (failure.kind === "cancelled") return fail("cancelled");
      wrongs.push(`${failure.kind}: ${failure.detail}`);
      const waitMs = waitAfter(failure, attempt);
      if (waitMs === null || isLast) return fail(whyOf(failure));
      await wait(waitMs, deps);
      continue;
    }
    const problems = answer.kind === "text" ? judgeSummary(answer.text, demands) : [answer.problem];
    if (answer.kind === "text") {
      const { text } = answer;
      if (problems.length === 0) return { kind: "summary", text, calls, speaker };
      const mended = isLast ? mend(text, demands) : null;
      if (mended !== null) return { kind: "summary", text: mended, calls, speaker };
    }
    wrongs.push(problems.join(" "));
    more = retryInstruction(
      problems,
      answer.kind === "text" ? draftOf(answer.text, demands) : null,
    );
  }
  return fail("refused");
}

/** Lists each fault once. */
function toReasons(wrongs: readonly string[]): readonly string[] {
  return [...new Set(wrongs)].map((wrong) => {
    const numbers = wrongs.flatMap((each, at) => (each === wrong ? [at + 1] : []));
    return `${numbers.length === 1 ? "attempt" : "attempts"} ${numbers.join(", ")}: ${wrong}`;
  });
}

function isCancelled({ signal }: AttemptDeps): boolean {
  return signal?.aborted === true;
}

async function wait(ms: number, deps: AttemptDeps): Promise<void> {
  try {
    await deps.sleep(ms, deps.signal);
  } catch (error) {
    // Platform timers throw when cancelled. The next attempt checks for the cancellation.
    if (!isCancelled(deps)) throw error;
  }
}

/** Null if a retry would fail the same way. */
function waitAfter(failure: ProviderFailure, attempt: number): number | null {
  // An unreadable answer may be readable the next time.
  if (!isRetryable(failure) && failure.kind !== "malformed") return null;
  const wishMs = "retryAfterMs" in failure ? (failure.retryAfterMs ?? 0) : 0;
  const waitMs = Math.max(wishMs, backoffMsBase * 2 ** (attempt - 1));
  return waitMs > waitMsMax ? null : waitMs;
}

function whyOf({ kind }: ProviderFailure): SummaryFailure {
  if (kind === "cancelled") return "cancelled";
  return kind === "context-overflow" || kind === "request-too-large" ? "overflow" : "provider";
}

/** Adds missing exact strings to a summary. Other faults cannot be repaired here. */
function mend(text: string, demands: SummaryDemands): string | null {
  const mended = addIdentifiers(text, lostIdentifiers(text, demands.identifiers));
  return judgeSummary(mended, demands).length > 0 ? null : mended;
}

/** Only a readable text of the right size is worth repairing. */
function draftOf(text: string, demands: SummaryDemands): string | null {
  const isReadable = judgeSummary(text, {
    ...demands,
    identifiers: [],
    pendingAsks: [],
    isPart: true,
  });
  return isReadable.length === 0 ? text : null;
}
