// A provider is a protocol, an endpoint and credentials. Sending never throws for failures of the world.
import { assert } from "../../core/assert.ts";
import type { Endpoint } from "../../core/wire/access.ts";
import type { Message } from "../../core/message/message.ts";
import { noUsage } from "../../core/message/usage.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import type { Reply } from "../../core/wire/reply.ts";
import { StrataError } from "../../core/strata-error.ts";
import { machineClock, type Clock } from "./clock.ts";
import { parseBaseUrl, parseCredentials } from "./endpoints.ts";
import type { AttemptContext } from "./run-attempt.ts";
import { redactSigned } from "./redact-signed.ts";
import { parseRetries, type RetryOptions } from "./retry.ts";
import { runAttempts, type CallToSend, type Sent } from "./run-attempts.ts";
import { parseTimeouts, timedOut, type Timeouts } from "./timeouts.ts";
import { openTransport } from "./transport.ts";
import { cancelled, createWatch } from "./watch.ts";
import { findEffects, signingBy, type Signing, type WireEffects } from "./wire-effects.ts";

export interface ProviderOptions extends Endpoint {
  readonly protocol: Protocol;
  /** Needed only for a protocol of your own that declares some. */
  readonly effects?: WireEffects;
  /** Signs requests without a key by the credentials of a cloud. */
  readonly signing?: Signing;
  readonly timeouts?: Partial<Timeouts>;
  readonly retries?: Partial<RetryOptions>;
  /** A longer answer fails as malformed. 64 MB by default. */
  readonly bodyBytesMax?: number;
  readonly clock?: Clock;
  /**
   * For a server of one's own that does not say how long it read a prompt: the time until the first part of a streamed reply is
   * taken for it.
   */
  readonly timesReading?: boolean;
  /** From 0 to 1, without 1. */
  readonly random?: () => number;
}

export interface Provider {
  readonly protocol: Protocol;
  /** The limit of a whole call, with all its attempts. */
  readonly timeoutMs: number;
  send(call: CallToSend): Promise<Sent>;
  /** Cancels the running call that was sent with this id. False if there is none. */
  cancel(requestId: string): boolean;
  /** Cancels running requests and ends every connection. */
  close(): Promise<void>;
}

const bodyBytesMax = 64 * 1024 * 1024;

export function createProvider(options: ProviderOptions): Provider {
  const { protocol, clock = machineClock, random = Math.random } = options;
  const timeouts = parseTimeouts(options.timeouts ?? {});
  const retries = parseRetries(options.retries ?? {});
  const credentials = parseCredentials(options.credentials);
  const base = parseBaseUrl(options.baseUrl);
  const found = findEffects(protocol, options.effects);
  const { effects, redact } = redactSigned(
    credentials,
    options.signing === undefined ? found : signingBy(found, options.signing),
  );
  const transport = openTransport({ base, credentials, timeouts, clock, effects });
  const context: AttemptContext = {
    transport,
    protocol,
    effects,
    timeouts,
    bodyBytesMax: parseBytesMax(options.bodyBytesMax ?? bodyBytesMax),
    clock,
    redact,
    timesReading: options.timesReading ?? false,
  };
  const closing = new AbortController();
  const running = new Map<string, AbortController>();
  return {
    protocol,
    timeoutMs: timeouts.totalMs,
    cancel: (requestId) => {
      const call = running.get(requestId);
      call?.abort();
      return call !== undefined;
    },
    send: async (call) => {
      const { requestId } = call;
      const own = new AbortController();
      if (requestId !== undefined) hold(running, requestId, own);
      const watch = createWatch(clock);
      watch.begin(timeouts.totalMs, timedOut("totalMs", timeouts));
      watch.follow(closing.signal, () => cancelled("the provider was closed"));
      watch.follow(own.signal, () => cancelled("cancelled by its id"));
      if (call.signal !== undefined) {
        watch.follow(call.signal, () => cancelled("cancelled by the caller"));
      }
      try {
        const { purpose = "reply" } = call;
        const asking = { ...context, ...(purpose !== "reply" && readingFor[purpose](context)) };
        const path = base.pathTo(call.request.path);
        const tries = purpose === "storing" ? { ...retries, attemptsMax: 1 } : retries;
        return await runAttempts({ own: asking, path, call, watch, retries: tries, random });
      } finally {
        watch.end();
        if (requestId !== undefined) running.delete(requestId);
      }
    },
    close: async () => {
      closing.abort();
      await transport.close();
    },
  };
}

/** Two calls under one id could not be distinguished. */
function hold(
  running: Map<string, AbortController>,
  requestId: string,
  own: AbortController,
): void {
  if (running.has(requestId)) {
    const hint = "give each call an id of its own, or wait for the first";
    throw new StrataError("conflict", `a call with the id ${requestId} is running`, hint);
  }
  running.set(requestId, own);
}

/** How an answer is read that is no reply to a prompt. */
const readingFor = { compaction: compacting, storing: readingText } as const;

function compacting({ protocol }: AttemptContext): Pick<AttemptContext, "protocol"> {
  const { compaction } = protocol;
  assert(compaction !== undefined, `${protocol.name} has no compaction`);
  return { protocol: { ...protocol, decode: (body) => compaction.decode(body) } };
}

/** The answer's own text in the place of a reply's. */
function readingText({ protocol }: AttemptContext): Pick<AttemptContext, "protocol"> {
  return { protocol: { ...protocol, decode: (body) => ({ ...noReply, message: saying(body) }) } };
}

const noReply: Omit<Reply, "message"> = {
  kind: "reply",
  id: "",
  model: "",
  stopReason: "end_turn",
  usage: { usage: noUsage, isReported: false, reportsCache: false, warnings: [] },
  status: "complete",
  transformations: [],
};

function saying(text: string): Message {
  return { role: "assistant", content: [{ type: "text", text }] };
}

function parseBytesMax(bytes: number): number {
  if (Number.isSafeInteger(bytes) && bytes > 0) return bytes;
  throw new StrataError(
    "config-invalid",
    `bodyBytesMax is ${String(bytes)}, but must be a whole number of bytes above 0`,
    "set bodyBytesMax to such a number, or leave it out for 64 MB",
  );
}
