// What a session has paid, beside what three simple policies would have paid for the same prompts at the same times.
import type { BlockList } from "../assembly/prompt-block.ts";
import type { ContentHash } from "../hash.ts";
import { promptTokens, type Lifetime, type Usage } from "../message/usage.ts";
import type { CacheRules, LifetimeRules } from "../models/cache-rules.ts";

/** Ours; one marker at the end for the shortest lifetime, or for the longest; no marker at all. */
export const accountNames = ["ours", "short tail", "long tail", "plain"] as const;

export type AccountName = (typeof accountNames)[number];

/** A plain value, stored with the session. Sums are in input tokens at their prices. */
export interface Accounts {
  readonly paid: Readonly<Record<AccountName, number>>;
  readonly promptTokensMax: number;
  /** Where the latest calls ended: the only places where a simple tail has entries. */
  readonly tails: readonly SimpleTail[];
}

interface SimpleTail {
  readonly key: ContentHash;
  readonly block: number;
  /** When the short tail last wrote or read it, and when the long one did. */
  readonly shortMs: number;
  readonly longMs: number;
}

export const noAccounts: Accounts = {
  paid: { ours: 0, "short tail": 0, "long tail": 0, plain: 0 },
  promptTokensMax: 0,
  tails: [],
};

/** History that is sent again after a change repeats one of the last few prompts. */
const tailsMax = 8;

export interface AccountQuestion {
  readonly blocks: BlockList;
  readonly rules: CacheRules;
  /** Tokens up to a block. */
  readonly ruler: (block: number) => number;
  /** The last block that later calls repeat. */
  readonly tail: number;
  readonly nowMs: number;
}

/** The lifetimes of the two tails. Null if the provider has one lifetime: then there is nothing to weigh. */
export function tailLifetimes({
  lifetimes,
  markers,
}: CacheRules): { readonly short: LifetimeRules; readonly long: LifetimeRules } | null {
  const [short] = lifetimes;
  const long = lifetimes.at(-1);
  if (markers === null || short === undefined || long === undefined || long === short) return null;
  return long.writeMultiplier === null ? null : { short, long };
}

/** After a call: what was paid, and what the simple policies would have paid for this prompt. */
export function settleAccounts(
  accounts: Accounts,
  question: AccountQuestion,
  usage: Usage,
): Accounts {
  const { blocks, rules, tail, nowMs } = question;
  const key = tail < 0 ? undefined : blocks.at(tail)?.key;
  if (key === undefined || tailLifetimes(rules) === null) return accounts;
  const hits = simpleHits(accounts, question);
  const total = promptTokens(usage);
  const costs = simpleCosts(hits, question);
  const rest = Math.max(0, total - costs.tailTokens);
  const { paid } = accounts;
  const refreshed = accounts.tails.map((each) =>
    each === hits.short || each === hits.long
      ? {
          ...each,
          shortMs: each === hits.short ? nowMs : each.shortMs,
          longMs: each === hits.long ? nowMs : each.longMs,
        }
      : each,
  );
  const others = refreshed.filter((each) => each.key !== key);
  const ended = { key, block: tail, shortMs: nowMs, longMs: nowMs };
  return {
    paid: {
      ours: paid.ours + priceOf(usage, rules),
      "short tail": paid["short tail"] + costs.short + rest,
      "long tail": paid["long tail"] + costs.long + rest,
      plain: paid.plain + total,
    },
    promptTokensMax: Math.max(accounts.promptTokensMax, total),
    tails: isKept(costs.tailTokens, rules) ? [...others, ended].slice(-tailsMax) : others,
  };
}

/** After a call that no simple policy would have sent. */
export function payAlone(accounts: Accounts, usage: Usage, rules: CacheRules): Accounts {
  const { paid } = accounts;
  return { ...accounts, paid: { ...paid, ours: paid.ours + priceOf(usage, rules) } };
}

/** What the best simple policy would have paid, and which it is. */
export interface BestSimple {
  readonly name: Exclude<AccountName, "ours">;
  readonly paid: number;
}

/** If this prompt were sent now; and if it were sent once more after a pause that only a long-lived entry outlives. */
export function predictSimple(
  accounts: Accounts,
  question: AccountQuestion,
): { readonly now: BestSimple; readonly afterPause: BestSimple } {
  const { rules } = question;
  const { paid } = accounts;
  const costs = simpleCosts(simpleHits(accounts, question), question);
  const { tailTokens } = costs;
  const { read, shortWrite } = ratesFor(tailTokens, rules);
  const short = paid["short tail"] + costs.short;
  const long = paid["long tail"] + costs.long;
  const plain = paid.plain + tailTokens;
  return {
    now: bestOf(short, long, plain),
    afterPause: bestOf(
      short + shortWrite * tailTokens,
      long + read * tailTokens,
      plain + tailTokens,
    ),
  };
}

function bestOf(short: number, long: number, plain: number): BestSimple {
  if (plain < short && plain < long) return { name: "plain", paid: plain };
  return short <= long ? { name: "short tail", paid: short } : { name: "long tail", paid: long };
}

interface SimpleHits {
  readonly short: SimpleTail | null;
  readonly long: SimpleTail | null;
}

/** What each tail would find: the longest live prefix that an earlier call ended with. */
function simpleHits({ tails }: Accounts, { blocks, rules, nowMs }: AccountQuestion): SimpleHits {
  const kept = tailLifetimes(rules);
  let short: SimpleTail | null = null;
  let long: SimpleTail | null = null;
  if (kept === null) return { short, long };
  for (const tail of tails) {
    if (blocks.at(tail.block)?.key !== tail.key) continue;
    const isShort = nowMs <= tail.shortMs + kept.short.seconds * 1000;
    const isLong = nowMs <= tail.longMs + kept.long.seconds * 1000;
    if (isShort && tail.block > (short?.block ?? -1)) short = tail;
    if (isLong && tail.block > (long?.block ?? -1)) long = tail;
  }
  return { short, long };
}

/** What the prompt up to its tail costs with these hits. */
function simpleCosts(
  hits: SimpleHits,
  { rules, ruler, tail }: AccountQuestion,
): { readonly short: number; readonly long: number; readonly tailTokens: number } {
  const tailTokens = ruler(tail);
  const { read, shortWrite, longWrite } = ratesFor(tailTokens, rules);
  const costWith = (hit: SimpleTail | null, write: number): number => {
    const found = hit === null ? 0 : Math.min(tailTokens, ruler(hit.block));
    return read * found + write * (tailTokens - found);
  };
  return {
    short: costWith(hits.short, shortWrite),
    long: costWith(hits.long, longWrite),
    tailTokens,
  };
}

/** A prompt that is too short is neither written nor read. */
function ratesFor(
  tailTokens: number,
  rules: CacheRules,
): { readonly read: number; readonly shortWrite: number; readonly longWrite: number } {
  if (!isKept(tailTokens, rules)) return { read: 1, shortWrite: 1, longWrite: 1 };
  const { lifetimes, readMultiplier } = rules;
  return {
    read: readMultiplier ?? 1,
    shortWrite: lifetimes[0]?.writeMultiplier ?? 1,
    longWrite: lifetimes.at(-1)?.writeMultiplier ?? 1,
  };
}

function isKept(tailTokens: number, { minimumTokens }: CacheRules): boolean {
  return tailTokens >= (minimumTokens ?? 0);
}

function priceOf(usage: Usage, { lifetimes, readMultiplier }: CacheRules): number {
  let price = usage.uncachedTokens + (readMultiplier ?? 1) * usage.cacheReadTokens;
  for (const { lifetime, writeMultiplier } of lifetimes) {
    price += (writeMultiplier ?? 1) * (usage.cacheWriteTokens[lifetime] ?? 0);
  }
  return price;
}

/** Which account was lowest before a call, and by how much. */
export interface LeadingAccount {
  readonly leader: AccountName;
  /** Input tokens between ours and the lowest simple one; positive if ours leads. */
  readonly leadTokens: number;
  /** A sentence for people. */
  readonly reason: string;
}

/** Null before the first call, and where there is nothing to weigh. */
export function leadingAccount({ paid }: Accounts, rules: CacheRules): LeadingAccount | null {
  const kept = tailLifetimes(rules);
  if (kept === null || paid.plain === 0) return null;
  const simple = accountNames.filter((name) => name !== "ours");
  const best = simple.reduce((least, name) => (paid[name] < paid[least] ? name : least));
  const leadTokens = Math.round(paid[best] - paid.ours);
  const policy = describeAccount(best, kept.short.lifetime, kept.long.lifetime);
  const reason =
    leadTokens >= 0
      ? `so far ${leadTokens} input tokens cheaper than ${policy}`
      : `so far ${policy} would have been ${-leadTokens} input tokens cheaper`;
  return { leader: leadTokens >= 0 ? "ours" : best, leadTokens, reason };
}

function describeAccount(name: AccountName, short: Lifetime, long: Lifetime): string {
  if (name === "plain") return "no caching";
  return `one marker at the end for ${name === "long tail" ? long : short}`;
}
