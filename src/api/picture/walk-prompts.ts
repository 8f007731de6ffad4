// A session's prompts one after the other: what each kept of the one before, what it added, and which of that was there before.
import { fieldsOf, isCount } from "../../core/message/fields.ts";
import { tiers, type Tier } from "../../core/tokens/budget.ts";
import type { ResultRow } from "../../edge/stores/sql/database.ts";
import { integer, integerOrNull, text } from "../../edge/stores/sql/read-row.ts";

export interface PicturePiece {
  readonly tier: Tier;
  readonly section: string;
  readonly tokens: number;
  /** The call that first brought it: an earlier one where the prompt below it changed and the rest was sent again. */
  readonly since: number;
}

export interface WalkedPrompt {
  readonly kept: number;
  readonly added: readonly PicturePiece[];
  /** Where its blocks end, in our tokens. Valid until the next step. */
  readonly ends: readonly number[];
  readonly isCompacted: boolean;
}

/** Goes from call to call, oldest first. `blocks` is undefined where only the sizes of tiers are known. */
export type PromptWalk = (
  row: ResultRow,
  blocks: readonly ResultRow[] | undefined,
  number: number,
) => WalkedPrompt;

export function createPromptWalk(): PromptWalk {
  const walkBlocks = createBlockWalk();
  let before: Sizes | null = null;
  return (row, blocks, number) => {
    if (blocks !== undefined) return walkBlocks(row, blocks, number);
    const sizes = sizesIn(row);
    const prompt = compareSizes(sizes, before, number);
    before = sizes;
    return prompt;
  };
}

/** Shorter than half of a long prompt: the client replaced its history. */
const longTokens = 20_000;

/** Calls of the gateway: the first blocks of the call before, then its own. */
function createBlockWalk(): (
  row: ResultRow,
  blocks: readonly ResultRow[],
  number: number,
) => WalkedPrompt {
  const ends: number[] = [];
  const brought: Brought[] = [];
  const nameResult = createResultNames();
  return (row, blocks, number) => {
    const keptBlocks = Math.min(integerOrNull(row, "kept_blocks") ?? 0, ends.length);
    const whole = ends.at(-1) ?? 0;
    const again = toQueues(brought.slice(keptBlocks));
    ends.length = keptBlocks;
    brought.length = keptBlocks;
    const kept = ends.at(-1) ?? 0;
    const added: PicturePiece[] = [];
    let end = kept;
    for (const block of blocks) {
      const [tier, tokens] = [tierOf(text(block, "tier")), integer(block, "tokens")];
      const hash = text(block, "hash");
      const since = again.get(hash)?.shift() ?? number;
      end += tokens;
      ends.push(end);
      brought.push({ hash, since });
      const section = nameResult(text(block, "kind"), text(block, "section"));
      const last = added.at(-1);
      // Tools and system text are one piece each: their parts stay together.
      if (last !== undefined && last.tier === tier && tier < "T3") {
        added[added.length - 1] = { ...last, section: nameOf[tier], tokens: last.tokens + tokens };
      } else added.push({ tier, section, tokens, since: tier < "T3" ? number : since });
    }
    return { kept, added, ends, isCompacted: whole > longTokens && end < whole / 2 };
  };
}

interface Brought {
  readonly hash: string;
  readonly since: number;
}

/** The same content may be in a prompt several times: the first of them comes back first. */
function toQueues(dropped: readonly Brought[]): Map<string, number[]> {
  const queues = new Map<string, number[]>();
  for (const { hash, since } of dropped) {
    if (hash === "") continue;
    const queue = queues.get(hash);
    if (queue === undefined) queues.set(hash, [since]);
    else queue.push(since);
  }
  return queues;
}

/** A tool result is named after its tool where only one tool was used. */
function createResultNames(): (kind: string, section: string) => string {
  let used = new Set<string>();
  let isAnswered = false;
  return (kind, section) => {
    if (kind === "tool_use") {
      if (isAnswered) used = new Set();
      isAnswered = false;
      const [, name] = /^use of (.+) in /s.exec(section) ?? [];
      if (name !== undefined) used.add(name);
      return section;
    }
    if (kind !== "tool_result") return section;
    isAnswered = true;
    const [only, ...others] = used;
    return only === undefined || others.length > 0
      ? section
      : section.replace(/^tool result in /, () => `result of ${only} in `);
  };
}

const nameOf: Readonly<Record<Tier, string>> = {
  T0: "tools",
  T1: "static system",
  T2: "session system",
  T3: "history",
  T4: "message",
  T5: "sent with this call alone",
};

type Sizes = Readonly<Partial<Record<Tier, number>>>;

/** A call of a turn: the sizes of its tiers. A history that grew was kept; one that shrank was compacted. */
function compareSizes(sizes: Sizes, before: Sizes | null, number: number): WalkedPrompt {
  const old = before ?? {};
  const added: PicturePiece[] = [];
  const ends: number[] = [];
  let kept = 0;
  let isKept = before !== null;
  let end = 0;
  const oldHistory = (old.T3 ?? 0) + (old.T4 ?? 0);
  const history = (sizes.T3 ?? 0) + (sizes.T4 ?? 0);
  const isCompacted = isKept && history < oldHistory;
  const add = (tier: Tier, tokens: number): void => {
    if (tokens > 0) added.push({ tier, section: nameOf[tier], tokens, since: number });
  };
  for (const tier of ["T0", "T1", "T2"] as const) {
    const tokens = sizes[tier] ?? 0;
    end += tokens;
    ends.push(end);
    isKept &&= tokens === old[tier] || tokens + (old[tier] ?? 0) === 0;
    if (isKept) kept = end;
    else add(tier, tokens);
  }
  const keptHistory = isKept && !isCompacted ? oldHistory : 0;
  kept += keptHistory;
  add("T3", history - keptHistory);
  end += history;
  const alone = sizes.T5 ?? 0;
  add("T5", alone);
  return { kept, added, ends: [...ends, end, end + alone], isCompacted };
}

function sizesIn(row: ResultRow): Sizes {
  const listed = fieldsOf(JSON.parse(text(row, "outcome_json")))["tiers"];
  const pairs = Array.isArray(listed) ? listed : [];
  return Object.fromEntries(
    pairs.flatMap((pair: unknown) => {
      const [tier, tokens]: readonly unknown[] = Array.isArray(pair) ? pair : [];
      return isTier(tier) && isCount(tokens) ? [[tier, tokens]] : [];
    }),
  );
}

function isTier(value: unknown): value is Tier {
  return tiers.some((tier) => tier === value);
}

function tierOf(value: string): Tier {
  return isTier(value) ? value : "T3";
}
