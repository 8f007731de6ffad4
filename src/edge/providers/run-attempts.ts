// Attempts at one call, with the waits between them, and the record of both.
import type { EncodedRequest } from "../../core/wire/encoded-request.ts";
import type { ProviderFailure } from "../../core/wire/failure.ts";
import type { StreamPart } from "../../core/wire/reply.ts";
import type { Clock } from "./clock.ts";
import { runAttempt, type AttemptResult, type AttemptContext } from "./run-attempt.ts";
import { planRetry, type RetryOptions, type RetryPlan } from "./retry.ts";
import { waitFor, type Watch } from "./watch.ts";

export interface CallToSend {
  readonly request: EncodedRequest;
  /** A name of yours for the call: `Provider.cancel` takes it. */
  readonly requestId?: string;
  /** What the request was encoded as; a reply by default. `storing`: the reply is the answer's own text, and nothing is tried twice. */
  readonly purpose?: "reply" | "compaction" | "storing";
  /** Whether the request asks for a stream. The answer's content type decides how it is read. */
  readonly stream: boolean;
  readonly signal?: AbortSignal;
  /** Called once when a successful answer begins: other calls can read its cache writes from then on. */
  readonly onBegin?: () => void;
  /** Called with each part of a stream. Its error ends the call and reaches the caller. */
  readonly onPart?: (part: StreamPart) => void;
}

/** The whole call: status, headers and first byte are of the last attempt. */
export interface Sent extends Omit<AttemptResult, "discarded"> {
  /** Every attempt, the last one included. */
  readonly attempts: readonly Attempt[];
  readonly requestId: string | null;
}

export interface Attempt extends Omit<AttemptResult, "outcome" | "headers"> {
  readonly requestId: string | null;
  /** Null for the attempt with a whole reply. */
  readonly failure: ProviderFailure | null;
  /** Whether a retry follows, and why; null after a whole reply. */
  readonly next: RetryPlan | null;
}

export interface Sending {
  readonly own: AttemptContext;
  /** Where every attempt goes, on the transport's host. */
  readonly path: string;
  readonly call: CallToSend;
  readonly watch: Watch;
  readonly retries: RetryOptions;
  readonly random: () => number;
}

/** Repeats attempts until there is a whole reply or no reason to retry. */
export async function runAttempts(sending: Sending): Promise<Sent> {
  const { own, path, call, watch } = sending;
  const { clock, timeouts } = own;
  const startMs = clock.nowMs();
  const attempts: Attempt[] = [];
  let hasGivenParts = false;
  const onPart = (part: StreamPart): void => {
    if (call.onPart === undefined) return;
    hasGivenParts = true;
    call.onPart(part);
  };
  let hasBegun = false;
  const onBegin = (): void => {
    if (!hasBegun) call.onBegin?.();
    hasBegun = true;
  };
  for (;;) {
    const { request, stream } = call;
    const result = await runAttempt(own, { request, path, stream, watch, onBegin, onPart });
    const { outcome } = result;
    const failure = outcome.kind === "reply" ? (outcome.failure ?? null) : outcome;
    const leftMs = watch.stopped() === null ? startMs + timeouts.totalMs - clock.nowMs() : 0;
    const next =
      failure === null
        ? null
        : planRetry({
            attempt: attempts.length + 1,
            failure,
            isWished: findWish(result),
            hasGivenParts,
            leftMs,
            random: sending.random(),
            options: sending.retries,
          });
    attempts.push(toAttempt(result, failure, next));
    if (next === null || next.delayMs === null) return toSent(result, attempts, clock, outcome);
    await waitFor(next.delayMs, clock, watch);
    const stopped = watch.stopped();
    if (stopped !== null) return toSent(result, attempts, clock, stopped);
  }
}

function toAttempt(
  result: AttemptResult,
  failure: ProviderFailure | null,
  next: RetryPlan | null,
): Attempt {
  const { outcome, startMs, firstByteMs, endMs, status } = result;
  const requestId = findRequestId(result.headers);
  // A partial reply that the caller has not seen is dropped for the next attempt.
  const isFollowed = next !== null && next.delayMs !== null;
  const discarded = isFollowed && outcome.kind === "reply" ? outcome : result.discarded;
  return { startMs, firstByteMs, endMs, status, requestId, failure, discarded, next };
}

function toSent(
  { firstByteMs, status, headers, startMs }: AttemptResult,
  attempts: readonly Attempt[],
  clock: Clock,
  outcome: Sent["outcome"],
): Sent {
  return {
    outcome,
    attempts,
    startMs: attempts[0]?.startMs ?? startMs,
    endMs: clock.nowMs(),
    firstByteMs,
    status,
    requestId: findRequestId(headers),
    headers,
  };
}

/** Reads the retry header that providers send with refusals, and that their SDKs obey. */
function findWish({ status, headers }: AttemptResult): boolean | null {
  const wish = status !== null && status >= 400 ? headers["x-should-retry"] : undefined;
  return wish === "true" ? true : wish === "false" ? false : null;
}

function findRequestId(headers: Readonly<Record<string, string>>): string | null {
  return headers["request-id"] ?? headers["x-request-id"] ?? null;
}
