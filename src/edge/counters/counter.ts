// Exact token counting, LRU, circuit breaker. A failed count never fails the turn.
import { promptTokens, type Usage } from "../../core/message/usage.ts";
import type { Drift, DriftLabels } from "../../core/tokens/drift.ts";
import { loadCl100k, type TextCounter } from "../../core/tokens/o200k/counter.ts";
import type { ProviderFailure } from "../../core/wire/failure.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import { monotonicClock, type CounterClock } from "./ask-within.ts";
import { createBodyCounter, type BodyCounter } from "./body-counter.ts";
import { chooseBackend } from "./choose-backend.ts";
import { countAlone, type CountBody } from "./count-blocks.ts";
import { toCountingProtocol } from "./counting-protocol.ts";
import type { BlockQuestion, Count, CountQuestion } from "./count.ts";
import { createDriftBook, type DriftFigures } from "./drift-book.ts";
import {
  createExactCounter,
  type CountSender,
  type ExactCounter,
  type ExactOutcome,
  type ExactStats,
} from "./exact-counter.ts";
import { createLatch, type CounterLabel } from "./latch.ts";

export interface CounterListeners {
  /** Each warning comes once. */
  readonly onWarning?: (message: string) => void;
  readonly onDrift?: (drift: Drift) => void;
}

export interface CounterOptions extends CounterListeners {
  /** As configured: auto, tiktoken, local, or what a protocol calls its counting. */
  readonly backend: string;
  /** The protocol of the requests that will be counted. */
  readonly protocol: Protocol;
  /** Whether the provider was given a key. */
  readonly hasKey: boolean;
  /** Called at most once, if a provider is needed. The counter closes the sender. */
  readonly openSender: (counting: Protocol) => CountSender;
  readonly textCounter: TextCounter;
  /** How many exact counts are remembered; 1024 by default. */
  readonly capacity?: number;
  /** Time limit of a count; 15 seconds by default. */
  readonly limitMs?: number;
  readonly clock?: CounterClock;
}

export interface Counter {
  /** Never rejects: if the provider does not count, returns an estimate marked as such. */
  count(question: CountQuestion): Promise<Count>;
  /** What a text or blocks add to a user message of a model. Never rejects either. */
  countBlocks(question: BlockQuestion): Promise<Count>;
  /** Compares what was counted before a call with what the call was billed for. */
  noteBill(bill: CountedBill): void;
  stats(): CounterStats;
  /** Cancels running requests and ends every connection. */
  close(): Promise<void>;
}

export interface CountedBill {
  readonly labels: DriftLabels;
  readonly countedTokens: number;
  readonly usage: Usage;
}

export interface CounterStats extends CounterLabel, DriftFigures {
  /** Counts by where they came from. */
  readonly counts: Readonly<Record<Count["source"], number>>;
  /** Null if no provider is asked. */
  readonly provider: ExactStats | null;
  /** How often a listener threw. */
  readonly listenerFailures: number;
}

export function createCounter(options: CounterOptions): Counter {
  let listenerFailures = 0;
  /** A listener's error never fails the turn. */
  const notify = (listener: () => void): void => {
    try {
      listener();
    } catch {
      listenerFailures += 1;
    }
  };
  const warn = (message: string): void => notify(() => options.onWarning?.(message));
  const { backend, exact } = openBackend(options, warn);
  const latch = createLatch(backend, exact !== null, warn);
  const drift = createDriftBook((each) => notify(() => options.onDrift?.(each)));
  const countBody = createBodyCounters(options);
  const counts = { provider: 0, remembered: 0, estimate: 0 };

  const count = async ({ request, signal, tokenizer, ...known }: CountQuestion): Promise<Count> => {
    const { labels, estimatedTokens } = known;
    const outcome = (await exact?.count(request, signal)) ?? notWanted;
    if (outcome.kind === "failed") latch.degrade(outcome.failure);
    if (outcome.kind !== "counted") {
      const isPlain = backend === "tiktoken" || estimatedTokens === undefined;
      const tokens = isPlain ? await countBody(request, tokenizer) : estimatedTokens;
      const label = latch.label();
      // A cancel is not a failure of the provider, but gives no exact count either.
      const isExact = label.exact && outcome.kind !== "cancelled";
      return { ...label, exact: isExact, tokens, source: "estimate", failure: toFailure(outcome) };
    }
    const { tokens, isRemembered } = outcome;
    // A remembered count was compared when it was new.
    if (!isRemembered && labels !== undefined && estimatedTokens !== undefined) {
      drift.compare(labels, "count", estimatedTokens, tokens);
    }
    const source = isRemembered ? "remembered" : "provider";
    return { ...latch.label(), tokens, source, failure: null };
  };

  return {
    countBlocks: async (question) => {
      const given = await countAlone(question, { protocol: options.protocol, count, countBody });
      counts[given.source] += 1;
      return given;
    },
    count: async (question) => {
      const given = await count(question);
      counts[given.source] += 1;
      if (question.labels !== undefined) drift.noteEstimate(question.labels, given.tokens);
      return given;
    },
    noteBill: ({ labels, countedTokens, usage }) => {
      drift.compare(labels, "bill", countedTokens, promptTokens(usage));
    },
    stats: () => ({
      ...latch.label(),
      counts: { ...counts },
      provider: exact?.stats() ?? null,
      listenerFailures,
      ...drift.figures(),
    }),
    close: async () => {
      await exact?.close();
    },
  };
}

/** Models of an older vocabulary are counted with it; it is loaded when the first is counted. */
function createBodyCounters({ textCounter, protocol }: CounterOptions): CountBody {
  const usual = createBodyCounter(textCounter, protocol);
  let older: BodyCounter | undefined;
  return async (request, tokenizer) => {
    if (tokenizer !== "cl100k") return usual(request);
    older ??= createBodyCounter(await loadCl100k(), protocol);
    return older(request);
  };
}

const usualCapacity = 1024;
const usualLimitMs = 15_000;

interface OpenBackend {
  readonly backend: string;
  readonly exact: ExactCounter | null;
}

function openBackend(options: CounterOptions, warn: (message: string) => void): OpenBackend {
  const { protocol, hasKey, openSender } = options;
  const api = protocol.counting;
  const question = { backend: options.backend, api: api?.name ?? null, hasKey };
  const { backend, warning } = chooseBackend(question);
  if (warning !== null) warn(warning);
  if (backend !== api?.name) return { backend, exact: null };
  const exact = createExactCounter({
    api,
    sender: openSender(toCountingProtocol(protocol, api)),
    capacity: options.capacity ?? usualCapacity,
    limitMs: options.limitMs ?? usualLimitMs,
    clock: options.clock ?? monotonicClock,
  });
  return { backend, exact };
}

const notWanted = { kind: "not-wanted" } as const;

type NoCount = Exclude<ExactOutcome, { readonly kind: "counted" }> | typeof notWanted;

function toFailure(outcome: NoCount): ProviderFailure | null {
  switch (outcome.kind) {
    case "failed":
      return outcome.failure;
    case "not-asked":
      return { kind: "unreachable", detail: "it failed before, and is left alone for now" };
    case "cancelled":
      return { kind: "cancelled", detail: "cancelled by the caller" };
    case "not-wanted":
      return null;
  }
}
