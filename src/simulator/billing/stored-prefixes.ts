// Prefixes that a client stores under a name: found by that name until they expire or are removed, and paid for by time.
import { formatUsd } from "../../core/models/pico-usd.ts";
import type { StoredRules } from "../../core/models/stored-rules.ts";
import type { OpenBill, StoredPrefix, StoredPrefixes, StoredView } from "./bill.ts";
import type { BillableRequest } from "./billable-request.ts";
import { keyedPromptOf } from "./growing-prompt.ts";
import type { BillingOptions } from "./options.ts";

/** With what only the billing itself asks. */
interface OwnStoredPrefixes extends StoredPrefixes {
  /** Bills a request that begins with a stored prefix. It neither reads nor leaves anything else. */
  open(request: BillableRequest, name: string): OpenBill;
  clear(): void;
}

interface Stored {
  readonly prefix: Pick<StoredPrefix, "name" | "id" | "workspace" | "model" | "startMs">;
  /** The key of the whole prefix, which a request that names it begins with. */
  readonly key: string;
  readonly lastBlock: number;
  readonly tokens: number;
  expiresMs: number;
  removedMs: number | null;
}

export function createStoredPrefixes(options: BillingOptions): OwnStoredPrefixes {
  const stored = new Map<string, Stored>();
  const findLive = (name: string, nowMs: number): Stored | null => {
    const found = stored.get(name);
    return found !== undefined && stateAt(found, nowMs) === "live" ? found : null;
  };
  return {
    add: (prefix) => {
      const { keys, cumulative } = keyedPromptOf(toRequest(prefix), options);
      const tokens = cumulative.at(-1) ?? 0;
      const { name, id, workspace, model, startMs, expiresMs } = prefix;
      stored.set(name, {
        prefix: { name, id, workspace, model, startMs },
        key: keys.at(-1) ?? "",
        lastBlock: keys.length - 1,
        tokens,
        expiresMs,
        removedMs: null,
      });
      forgetEnded(stored, startMs, options);
      return billOf(prefix.id, tokens, 0, null, { kind: "stored prefix", name, isRead: false });
    },
    keepUntil: (name, expiresMs, nowMs) => {
      const found = findLive(name, nowMs);
      if (found !== null) found.expiresMs = expiresMs;
      return found !== null;
    },
    remove: (name, nowMs) => {
      const found = findLive(name, nowMs);
      if (found !== null) found.removedMs = nowMs;
      return found !== null;
    },
    open: (request, name) => {
      const { keys, cumulative } = keyedPromptOf(request, options);
      const total = cumulative.at(-1) ?? 0;
      const found = findLive(name, request.startMs);
      const isRead = found !== null && found.tokens > 0 && keys[found.lastBlock] === found.key;
      if (!isRead) return billOf(request.id, total, 0, null, { kind: "never written" });
      const reason = { kind: "stored prefix", name, isRead } as const;
      return billOf(request.id, total, found.tokens, found.lastBlock, reason);
    },
    views: (nowMs) => [...stored.values()].map((each) => toView(each, nowMs)),
    clear: () => stored.clear(),
  };
}

/** The end belongs to the lifetime no more: at the moment of its expiry a prefix is gone. */
function stateAt({ expiresMs, removedMs }: Stored, nowMs: number): StoredView["state"] {
  if (removedMs !== null) return "removed";
  return nowMs < expiresMs ? "live" : "expired";
}

function toView(stored: Stored, nowMs: number): StoredView {
  const { prefix, tokens, expiresMs, removedMs } = stored;
  const { name, workspace, model, startMs } = prefix;
  const endMs = Math.min(removedMs ?? expiresMs, nowMs);
  const span = { tokens, fromMs: startMs, toMs: endMs };
  const pico = storagePicoUsd(span, model.cache.stored);
  return {
    name,
    workspace,
    model: model.id,
    tokens,
    writtenBy: prefix.id,
    storedMs: startMs,
    expiresMs,
    state: stateAt(stored, nowMs),
    billedMs: Math.max(0, endMs - startMs),
    costUsd: pico === null ? null : formatUsd(pico),
  };
}

interface StoredSpan {
  readonly tokens: number;
  readonly fromMs: number;
  readonly toMs: number;
}

const hourMs = 3_600_000n;

/** Tokens times the time it lived, at the price of each day, rounded down. Null if no price is published. */
function storagePicoUsd(
  { tokens, fromMs, toMs }: StoredSpan,
  rules: StoredRules | null,
): bigint | null {
  const rows = rules?.storage ?? [];
  if (rows.length === 0) return null;
  let total = 0n;
  for (const [index, { from, picoUsdPerTokenHour }] of rows.entries()) {
    const nextFrom = rows[index + 1]?.from ?? null;
    const start = from === null ? fromMs : Math.max(fromMs, Date.parse(from));
    const end = nextFrom === null ? toMs : Math.min(toMs, Date.parse(nextFrom));
    if (end > start) total += BigInt(tokens) * BigInt(end - start) * picoUsdPerTokenHour;
  }
  return total / hourMs;
}

/** Drops the oldest that ended, if there are too many. Live ones stay: their owner pays for them. */
function forgetEnded(
  stored: Map<string, Stored>,
  nowMs: number,
  { entriesMax }: BillingOptions,
): void {
  if (stored.size <= entriesMax) return;
  for (const [name, each] of stored) {
    if (stored.size <= entriesMax) return;
    if (stateAt(each, nowMs) !== "live") stored.delete(name);
  }
}

function toRequest(prefix: StoredPrefix): BillableRequest {
  return { ...prefix, markers: [], mode: "explicit" };
}

function billOf(
  requestId: string,
  totalTokens: number,
  readTokens: number,
  hitBlock: number | null,
  reason: OpenBill["bill"]["reason"],
): OpenBill {
  const uncachedTokens = totalTokens - readTokens;
  const tokens = { totalTokens, readTokens, writeTokens: {}, uncachedTokens };
  return {
    bill: { requestId, ...tokens, hitBlock, markers: [], reason },
    begin: () => {},
    end: () => {},
    abandon: () => {},
  };
}
