// The naive reading of stored prefixes: it keeps a log of what was stored, kept and removed, and answers every question from
// the whole log. Written without looking at the simulator's billing.
import type { BillableRequest } from "../../src/simulator/billing/billable-request.ts";
import type { StoredPrefix } from "../../src/simulator/billing/bill.ts";

/** What a client did with prefixes that it stores, in order of time. */
export type StorageAct =
  | { readonly kind: "store"; readonly prefix: StoredPrefix }
  | {
      readonly kind: "keep";
      readonly name: string;
      readonly expiresMs: number;
      readonly atMs: number;
    }
  | { readonly kind: "remove"; readonly name: string; readonly atMs: number };

interface StoredRead {
  readonly tokens: number;
  /** The last block of the prefix; null if nothing is read. */
  readonly lastBlock: number | null;
}

/** What a request reads of the prefix it names. */
export function readStored(acts: readonly StorageAct[], request: BillableRequest): StoredRead {
  const nothing = { tokens: 0, lastBlock: null };
  const prefix = prefixNamed(acts, request.stored ?? "");
  if (prefix === null || !isStored(acts, prefix.name, request.startMs)) return nothing;
  const { workspace, model, blocks } = prefix;
  if (workspace !== request.workspace) return nothing;
  if (model.id !== request.model.id || model.route !== request.model.route) return nothing;
  let tokens = 0;
  for (const [index, block] of blocks.entries()) {
    if (request.blocks[index]?.hash !== block.hash) return nothing;
    tokens += block.tokens;
  }
  return tokens === 0 ? nothing : { tokens, lastBlock: blocks.length - 1 };
}

/** Whether it is there at a moment: stored before, not removed, not expired. */
export function isStored(acts: readonly StorageAct[], name: string, atMs: number): boolean {
  const { endMs } = lifeOf(acts, name);
  return endMs !== null && atMs < endMs;
}

/** One line for each prefix that was ever stored. */
export function storedLines(acts: readonly StorageAct[], nowMs: number): string[] {
  return acts.flatMap((act) => {
    if (act.kind !== "store") return [];
    const { name, model, startMs, blocks } = act.prefix;
    const { endMs, isRemoved } = lifeOf(acts, name);
    const end = endMs ?? startMs;
    const tokens = blocks.reduce((sum, block) => sum + block.tokens, 0);
    const state = isRemoved ? "removed" : nowMs < end ? "live" : "expired";
    const cost = costOf(model, tokens, startMs, Math.min(end, nowMs));
    return [`stored ${name} ${tokens} ${state} ${cost}`];
  });
}

/** When its life ended or will end. Null if it was never stored. */
function lifeOf(
  acts: readonly StorageAct[],
  name: string,
): { readonly endMs: number | null; readonly isRemoved: boolean } {
  let endMs: number | null = null;
  let isRemoved = false;
  for (const act of acts) {
    if (act.kind === "store") {
      if (act.prefix.name === name) endMs = act.prefix.expiresMs;
      continue;
    }
    // What is gone stays gone.
    if (act.name !== name || isRemoved || endMs === null || act.atMs >= endMs) continue;
    endMs = act.kind === "keep" ? act.expiresMs : act.atMs;
    isRemoved = act.kind === "remove";
  }
  return { endMs, isRemoved };
}

function prefixNamed(acts: readonly StorageAct[], name: string): StoredPrefix | null {
  for (const act of acts) if (act.kind === "store" && act.prefix.name === name) return act.prefix;
  return null;
}

const dayMs = 86_400_000;

/** Day by day, because prices change at midnight. In dollars to the twelfth decimal, the rest cut. */
function costOf(
  { cache }: StoredPrefix["model"],
  tokens: number,
  fromMs: number,
  toMs: number,
): string {
  const rows = cache.stored?.storage ?? [];
  if (rows.length === 0) return "no price";
  let sum = 0n;
  for (let start = fromMs; start < toMs;) {
    const end = Math.min(toMs, (Math.floor(start / dayMs) + 1) * dayMs);
    const day = new Date(start).toISOString().slice(0, 10);
    const row = rows.findLast(({ from }) => from === null || from <= day);
    sum += (row?.picoUsdPerTokenHour ?? 0n) * BigInt(tokens) * BigInt(end - start);
    start = end;
  }
  const digits = String(sum / 3_600_000n).padStart(13, "0");
  const decimals = digits.slice(-12).replace(/0+$/, "");
  return `$${digits.slice(0, -12)}${decimals === "" ? "" : `.${decimals}`}`;
}
