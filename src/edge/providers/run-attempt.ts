// One attempt: sends a request and reads the answer to its end.
import { malformed, type ProviderFailure } from "../../core/wire/failure.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import type { Clock } from "./clock.ts";
import { openIncoming, readWhole, type Incoming } from "./incoming.ts";
import type { Redact } from "../../core/events/redact-secrets.ts";
import { redactResult } from "./redact.ts";
import { readStream, type Listener, type Read } from "./read-stream.ts";
import { timedOut, type Timeouts } from "./timeouts.ts";
import type { Answer, Post, Transport } from "./transport.ts";
import { createInnerWatch } from "./watch.ts";
import { findStreamForm, type WireEffects } from "./wire-effects.ts";

/** What every attempt of a provider has in common. */
export interface AttemptContext {
  readonly transport: Transport;
  readonly protocol: Protocol;
  readonly effects: WireEffects;
  readonly timeouts: Timeouts;
  readonly bodyBytesMax: number;
  readonly clock: Clock;
  /** Removes the credentials from a text. */
  readonly redact: Redact;
}

/** Its watch is that of the whole call. */
export type Ask = Post & Listener;

export interface AttemptResult extends Read {
  readonly startMs: number;
  /** When the answer's headers came; null if none came. */
  readonly firstByteMs: number | null;
  readonly endMs: number;
  readonly status: number | null;
  /** Headers of the answer, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

export async function runAttempt(own: AttemptContext, ask: Ask): Promise<AttemptResult> {
  const { clock, timeouts } = own;
  const startMs = clock.nowMs();
  const watch = createInnerWatch(clock, ask.watch);
  try {
    watch.begin(timeouts.firstByteMs, timedOut("firstByteMs", timeouts));
    const answer = await own.transport.post({ ...ask, watch });
    const firstByteMs = answer.kind === "answer" ? clock.nowMs() : null;
    const read =
      answer.kind === "answer"
        ? await readAnswer(answer, own, { ...ask, watch })
        : { outcome: answer, discarded: null };
    const { status, headers } = answer.kind === "answer" ? answer : { status: null, headers: {} };
    const result = { ...read, startMs, firstByteMs, endMs: clock.nowMs(), status, headers };
    return redactResult(result, own.redact);
  } finally {
    watch.end();
  }
}

async function readAnswer(answer: Answer, own: AttemptContext, ask: Ask): Promise<Read> {
  const { status, headers } = answer;
  const { timeouts, bodyBytesMax } = own;
  try {
    if (status >= 300 && status < 400) {
      return fail(malformed(`redirected with status ${status}, and redirects are not followed`));
    }
    const encoding = headers["content-encoding"] ?? "identity";
    if (status < 300 && encoding !== "identity") {
      return fail(malformed(`the answer is compressed (${encoding}), which was not asked for`));
    }
    const incoming = openIncoming(answer.body, { watch: ask.watch, timeouts, bodyBytesMax });
    if (status >= 400) return fail(await readRefusal(answer, incoming, own));
    const form = findStreamForm(headers["content-type"], own.effects);
    if (form !== undefined) {
      return await readStream(incoming, { ...ask, form, stream: own.protocol.stream });
    }
    const { text, failure } = await readWhole(incoming);
    if (failure !== null) return fail(failure);
    const read = decode(text, own);
    if (read.outcome.kind === "reply") ask.onBegin();
    return read;
  } finally {
    answer.release();
  }
}

/** Redacts before decoding: a failure may quote only a part of a key, which would not be recognised. */
function decode(text: string, { protocol, redact }: AttemptContext): Read {
  const decoded = protocol.decode(text);
  const outcome = decoded.kind === "reply" ? decoded : protocol.decode(redact(text));
  return { outcome, discarded: null };
}

/** Reads a refusal even if its text was cut: the status alone says much. */
async function readRefusal(
  { status, headers }: Answer,
  incoming: Incoming,
  { protocol, clock, redact }: AttemptContext,
): Promise<ProviderFailure> {
  const { text, failure } = await readWhole(incoming);
  if (failure !== null && failure.kind !== "unreachable") return failure;
  const isReadable = (headers["content-encoding"] ?? "identity") === "identity";
  const body = isReadable ? redact(text) : "";
  return protocol.readFailure({ status, headers, body, nowMs: clock.nowMs() });
}

function fail(outcome: ProviderFailure): Read {
  return { outcome, discarded: null };
}
