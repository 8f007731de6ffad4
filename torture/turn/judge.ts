// What must hold of a course, read from what was recorded.
import { isDeepStrictEqual } from "node:util";
import type { CallRecord } from "../../src/core/ledger/call-entry.ts";
import type { Block, Message } from "../../src/core/message/message.ts";
import { isOverflow } from "../../src/core/turn/turn.ts";
import type { Commit } from "./log.ts";

/** Texts and tool uses of one side that stand in a conversation more than once. */
export function findRepeated(
  talk: readonly Message[],
  side: "assistant" | "user",
): readonly string[] {
  const names = talk.flatMap(({ role, content }) =>
    role === side ? content.flatMap(side === "user" ? wordsIn : nameOf) : [],
  );
  return names.filter((name, at) => names.indexOf(name) < at);
}

function nameOf(block: Block): readonly string[] {
  if (block.type === "tool_use") return [block.id];
  return block.type === "text" ? [block.text.slice(0, 20)] : [];
}

/** What somebody said meanwhile; other words a compaction may repeat. */
function wordsIn(block: Block): readonly string[] {
  const said = block.type === "text" ? /(?:^|\n)(Meanwhile \d+\.)$/.exec(block.text) : null;
  return said?.[1] === undefined ? [] : [said[1]];
}

export interface Efforts {
  /** Compactions for what one call sends, however often it is sent. */
  readonly compactionsMax: number;
  /** How often a call was sent again after an overflow. */
  readonly retriesMax: number;
}

/** By the record alone: calls after an overflow send the same again. */
export function countEfforts(commits: readonly Commit[]): Efforts {
  let compactionsMax = 0;
  let retriesMax = 0;
  let compactions = 0;
  let retries = 0;
  let isAgain = false;
  for (const { what, rows } of commits) {
    if (what === "open turn") [compactions, retries, isAgain] = [0, 0, false];
    if (what === "fold") compactions += 1;
    if (what === "call") {
      const { call } = rows as { readonly call: CallRecord };
      if (isAgain) retries += 1;
      compactionsMax = Math.max(compactionsMax, compactions);
      retriesMax = Math.max(retriesMax, retries);
      isAgain = isOverflow(call);
      if (!isAgain) [compactions, retries] = [0, 0];
    }
    compactionsMax = Math.max(compactionsMax, compactions);
  }
  return { compactionsMax, retriesMax };
}

/** The first write in which two courses differ; null where they are the same to the end. */
export function findDifference(one: readonly Commit[], other: readonly Commit[]): string | null {
  const length = Math.max(one.length, other.length);
  for (let at = 0; at < length; at += 1) {
    const [mine, theirs] = [one[at], other[at]];
    if (mine === undefined || theirs === undefined) {
      return `write ${at}: ${describe(mine)} against ${describe(theirs)}`;
    }
    const path = findPath(toCompare(mine), toCompare(theirs));
    if (path !== null) return `write ${at}, ${describe(mine)} against ${describe(theirs)}: ${path}`;
  }
  return null;
}

/** What was kept before a turn that failed is not known to whoever resumed it: it is said again then. */
function toCompare({ stateJson, ...commit }: Commit): unknown {
  if (commit.what !== "close" || stateJson === undefined) return { ...commit, stateJson };
  return { ...commit, state: { ...Object(JSON.parse(stateJson)), keptVolatile: null } };
}

function describe(commit: Commit | undefined): string {
  return commit === undefined ? "nothing" : `${commit.what} of call ${commit.call}`;
}

/** Where two values differ, and how. */
function findPath(one: unknown, other: unknown, path = ""): string | null {
  if (isDeepStrictEqual(one, other)) return null;
  const [mine, theirs] = [fields(one), fields(other)];
  if (mine === null || theirs === null) return `${path} ${show(one)} against ${show(other)}`;
  for (const key of new Set([...mine.keys(), ...theirs.keys()])) {
    const deeper = findPath(mine.get(key), theirs.get(key), `${path}.${key}`);
    if (deeper !== null) return deeper;
  }
  return null;
}

function fields(value: unknown): ReadonlyMap<string, unknown> | null {
  const parsed = typeof value === "string" && /^[[{]/.test(value) ? parse(value) : value;
  return typeof parsed === "object" && parsed !== null ? new Map(Object.entries(parsed)) : null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function show(value: unknown): string {
  const text = typeof value === "bigint" ? `${value}n` : JSON.stringify(value);
  return (text ?? "nothing").slice(0, 200);
}
