// Watches the model calls that other programs send through the gateway, and explains each of them.
import { randomUUID } from "node:crypto";
import { builtInCatalogue, type Catalogue } from "../../core/models/catalogue.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import { protocols } from "../../core/wire/protocols.ts";
import type { ExchangeStart, Observer } from "../exchange.ts";
import type { CallSink } from "../observed-call.ts";
import type { Forgotten } from "./conversation-memory.ts";
import type { CallRewriter } from "./call-rewriter.ts";
import { openTurns, type ConversationShare } from "../share/conversation-share.ts";
import { openConversations } from "./conversations.ts";
import { observe } from "./observation.ts";
import type { ObserveCounts, ObserveLimits } from "./watched.ts";

export interface ObserverOptions {
  readonly sink: CallSink;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  readonly catalogue?: Catalogue;
  readonly limits?: Partial<ObserveLimits>;
  /** Called for a fault after the end of an exchange. All others are thrown where they happen. */
  readonly onFault?: (error: unknown) => void;
  /** Ids of conversations; random by default. */
  readonly newId?: () => string;
  readonly protocols?: readonly Protocol[];
  /** Whether an upstream is the own API of a protocol's vendor; by its name by default. */
  readonly isVendor?: (upstream: string, protocol: Protocol) => boolean;
  /** Sends calls with other markers; none by default. */
  readonly rewriter?: CallRewriter | null;
  /** Conversations of other gateways; none by default. */
  readonly share?: ConversationShare | null;
}

export interface CallObserver extends Observer {
  state(): ObserverState;
  /** Resolves when no call that ended waits for what other gateways know. */
  done(): Promise<void>;
}

export interface ObserverState extends ObserveCounts {
  readonly conversations: number;
  /** The size of all bodies and blocks that are kept, taken together. */
  readonly bytes: number;
  readonly forgotten: Forgotten;
}

const mebibyte = 1024 * 1024;

export const usualObserveLimits: ObserveLimits = {
  conversationsMax: 2000,
  memoryBytesMax: 256 * mebibyte,
  // The longest that a provider keeps a prefix.
  idleMsMax: 24 * 3_600_000,
  bodyBytesMax: 64 * mebibyte,
  answerBytesMax: 32 * mebibyte,
  unpackedBytesMax: 256 * mebibyte,
};

export function createObserver(options: ObserverOptions): CallObserver {
  const { sink, nowMs, catalogue = builtInCatalogue, newId = randomUUID } = options;
  const {
    protocols: rows = protocols,
    isVendor = isNamedAsVendor,
    rewriter = null,
    share = null,
  } = options;
  const limits = { ...usualObserveLimits, ...options.limits };
  const conversations = openConversations(limits, newId);
  const counts: ObserveCounts = { unreadBodies: 0, faults: 0 };
  const onFault = (error: unknown): void => {
    counts.faults += 1;
    options.onFault?.(error);
  };
  const shared = {
    sink,
    nowMs,
    catalogue,
    conversations,
    limits,
    isVendor,
    counts,
    onFault,
    rewriter,
    share,
    turns: openTurns(onFault),
  };
  return {
    begin: (start) => {
      const spoken = protocolsAt(start, rows);
      return spoken.length === 0 ? null : observe(start, spoken, shared);
    },
    state: () => {
      const { conversations: count, bytes } = conversations.size;
      return { conversations: count, bytes, forgotten: conversations.forgotten, ...counts };
    },
    done: () => shared.turns.done(),
  };
}

function isNamedAsVendor(upstream: string, { access }: Protocol): boolean {
  return access.vendor?.name === upstream;
}

/** The protocols whose calls may be sent to this address. Counting tokens, lists, files and batches are no model calls. */
function protocolsAt(
  { method, path, headers }: ExchangeStart,
  rows: readonly Protocol[],
): readonly Protocol[] {
  const type = headers["content-type"];
  if (method !== "POST" || (type !== undefined && !/\bjson\b/i.test(type))) return [];
  return rows.filter(
    ({ foreign, counting }) =>
      foreign.isSentTo({ path, headers }) && counting?.isAskedAt(path) !== true,
  );
}
