// The provider's own counts: remembered by content, one request at a time per content, none while it keeps failing.
import { createHash } from "node:crypto";
import { promptTokens } from "../../core/message/usage.ts";
import type { EncodedRequest } from "../../core/wire/encoded-request.ts";
import type { ContentHash } from "../../core/hash.ts";
import type { ProviderFailure } from "../../core/wire/failure.ts";
import type { ProtocolCounting } from "../../core/wire/protocol.ts";
import type { Reply } from "../../core/wire/reply.ts";
import { askWithin, type CounterClock } from "./ask-within.ts";
import { createFlights } from "./flights.ts";
import { createLru } from "../../core/tokens/lru.ts";
import { createProviderHealth, type HealthFigures } from "./provider-health.ts";

/** What a provider of edge/providers is, as far as counting needs it. */
export interface CountSender {
  send(call: CountToSend): Promise<{ readonly outcome: Reply | ProviderFailure }>;
  close(): Promise<void>;
}

export interface CountToSend {
  readonly request: EncodedRequest;
  readonly stream: false;
  readonly signal: AbortSignal;
}

export interface ExactCounter {
  /** Never rejects. */
  count(request: EncodedRequest, signal?: AbortSignal): Promise<ExactOutcome>;
  stats(): ExactStats;
  /** Cancels running requests and ends every connection. */
  close(): Promise<void>;
}

export type ExactOutcome =
  | { readonly kind: "counted"; readonly tokens: number; readonly isRemembered: boolean }
  | { readonly kind: "failed"; readonly failure: ProviderFailure }
  /** The provider failed before and is not asked for now. */
  | { readonly kind: "not-asked" }
  | { readonly kind: "cancelled" };

export interface ExactStats extends HealthFigures {
  /** Counts without a new request: the same count was known or running. */
  readonly remembered: number;
  readonly shared: number;
  /** How many counts are kept. */
  readonly entries: number;
}

export interface ExactCounterOptions {
  readonly api: ProtocolCounting;
  readonly sender: CountSender;
  readonly capacity: number;
  readonly limitMs: number;
  readonly clock: CounterClock;
}

export function createExactCounter(options: ExactCounterOptions): ExactCounter {
  const { api, sender, clock, limitMs } = options;
  const known = createLru<number>(options.capacity);
  const flights = createFlights<ExactOutcome>();
  const health = createProviderHealth(clock);
  const spared = { remembered: 0, shared: 0 };

  const ask = async (
    key: string,
    request: EncodedRequest,
    signal: AbortSignal,
  ): Promise<ExactOutcome> => {
    const send = (within: AbortSignal): ReturnType<CountSender["send"]> =>
      sender.send({ request, stream: false, signal: within });
    const outcome = await askWithin({ send, limitMs, clock, signal });
    health.note(outcome);
    if (outcome.kind === "cancelled") return { kind: "cancelled" };
    if (outcome.kind !== "reply") return { kind: "failed", failure: outcome };
    const tokens = promptTokens(outcome.usage.usage);
    known.set(key, tokens);
    return { kind: "counted", tokens, isRemembered: false };
  };

  return {
    count: async (sent, signal) => {
      const request = api.encode(sent);
      const key = keyOf(request, api.name);
      const tokens = known.get(key);
      if (tokens !== undefined) {
        spared.remembered += 1;
        return { kind: "counted", tokens, isRemembered: true };
      }
      if (signal?.aborted === true) return { kind: "cancelled" };
      if (flights.isUnderWay(key)) spared.shared += 1;
      else if (!health.admit()) return { kind: "not-asked" };
      const outcome = await flights.join(key, (within) => ask(key, request, within), signal);
      return outcome ?? { kind: "cancelled" };
    },
    stats: () => ({ ...health.figures(), ...spared, entries: known.size }),
    close: async () => {
      flights.abortAll();
      await sender.close();
    },
  };
}

/** The key of the content: the same for the same bytes, however they are split. */
function keyOf({ pieces, headers }: EncodedRequest, api: string): ContentHash {
  const hash = createHash("sha256").update(`${api}\n${JSON.stringify(headers)}\n`);
  for (const piece of pieces) hash.update(piece);
  return hash.digest("hex");
}
