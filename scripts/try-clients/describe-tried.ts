// What a client's job through the gateway came to, as one row.
import type { ObservedCall } from "../../src/gateway/observed-call.ts";
import { formatUsdRounded } from "../../src/core/models/pico-usd.ts";
import { promptTokens } from "../../src/core/message/usage.ts";
import type { Call } from "../../src/simulator/index.ts";
import type { Tried } from "./try-client.ts";

export interface Row {
  readonly client: string;
  /** What it calls itself. */
  readonly userAgents: readonly string[];
  readonly exits: readonly (number | null)[];
  readonly seconds: number;
  /** Requests that reached the gateway. */
  readonly requests: number;
  readonly calls: number;
  /** Such as `claude-code sub-agent claude-haiku-4-5: 7`. */
  readonly conversations: readonly string[];
  /** Read from the cache, of all prompt tokens. */
  readonly hitRate: number | null;
  readonly costUsd: string;
  readonly billedUsd: string;
  readonly isBillEqual: boolean;
  /** Only with `--optimize`. */
  readonly optimized: Optimized | null;
  /** Such as `system changed at \`system\`: 1.2k tokens`. */
  readonly misses: readonly string[];
  readonly notes: readonly string[];
  /** Requests that are no model calls, and calls that were not understood. */
  readonly others: readonly string[];
  readonly failures: readonly string[];
  readonly faults: number;
  readonly problems: readonly string[];
  /** Exchanges whose bytes arrived as they were sent, both ways. */
  readonly equal: number;
  readonly different: readonly string[];
  readonly brokenOff: number;
}

interface Optimized {
  /** Calls that were sent with our markers. */
  readonly calls: number;
  /** The simulator's bill of the same requests with the client's own markers. */
  readonly clientUsd: string;
  /** What was billed over that; null if that is nothing. */
  readonly ratio: number | null;
}

export function toRow(tried: Tried): Row {
  const { calls, sameness, billed, billedUnmarked } = tried;
  const cost = calls.reduce((sum, { costPicoUsd }) => sum + (costPicoUsd ?? 0n), 0n);
  const bill = sumOf(billed);
  const prompt = calls.reduce((sum, { usage }) => sum + (usage ? promptTokens(usage) : 0), 0);
  const read = calls.reduce((sum, { usage }) => sum + (usage?.cacheReadTokens ?? 0), 0);
  return {
    client: tried.client,
    userAgents: tried.userAgents,
    exits: tried.runs.map(({ exit }) => exit),
    seconds: Math.round(tried.runs.reduce((sum, { seconds }) => sum + seconds, 0)),
    requests: tried.exchanges.length,
    calls: calls.length,
    conversations: conversationsOf(calls),
    hitRate: prompt === 0 ? null : read / prompt,
    costUsd: formatUsdRounded(cost, 6),
    billedUsd: formatUsdRounded(bill, 6),
    isBillEqual: cost === bill,
    optimized: billedUnmarked && toOptimized(calls, bill, sumOf(billedUnmarked)),
    misses: calls.flatMap(missOf),
    notes: counted(calls.flatMap(({ notes }) => notes)),
    others: counted(
      tried.exchanges
        .filter(({ isWatched }) => !isWatched)
        .map(({ method, path, status, how }) => `${method} ${path} ${status ?? how}`),
    ),
    failures: counted(
      calls
        .filter(({ status }) => status !== "complete")
        .map(({ status, failure }) => `${status}: ${failure?.kind ?? "no failure"}`),
    ),
    faults: tried.faults,
    problems: tried.problems,
    equal: sameness.equal,
    different: counted(sameness.different),
    brokenOff: sameness.brokenOff,
  };
}

function toOptimized(calls: readonly ObservedCall[], bill: bigint, unmarked: bigint): Optimized {
  return {
    calls: calls.filter(({ policy = "client" }) => policy !== "client").length,
    clientUsd: formatUsdRounded(unmarked, 6),
    ratio: unmarked === 0n ? null : Number(bill) / Number(unmarked),
  };
}

function sumOf(billed: readonly Call[]): bigint {
  return billed.reduce((sum, call) => sum + picoOf(call.billed?.costUsd ?? "0"), 0n);
}

function conversationsOf(calls: readonly ObservedCall[]): readonly string[] {
  const counts = new Map<string, { words: string; calls: number }>();
  for (const { conversation, model } of calls) {
    const { id, client, kind, parentId } = conversation;
    const words = `${client} ${kind}${parentId === null ? "" : " (with parent)"} ${model}`;
    const { calls: count } = counts.get(id) ?? { calls: 0 };
    counts.set(id, { words, calls: count + 1 });
  }
  return [...counts.values()].map(({ words, calls: count }) => `${words}: ${count}`);
}

function missOf({ conversation, explanation }: ObservedCall): readonly string[] {
  if (explanation === null || explanation.lostTokens === 0) return [];
  const { cause, detail, block, lostTokens } = explanation;
  const words = [
    cause,
    detail === null ? "" : `(${detail})`,
    block === null ? "" : `at ${block.section}`,
  ].filter((word) => word !== "");
  return [
    `${conversation.kind} call ${conversation.callNumber}: ${words.join(" ")}, ${lostTokens} tokens`,
  ];
}

function counted(words: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].map(([word, count]) => (count === 1 ? word : `${word} (${count} times)`));
}

/** The simulator says dollars as exact decimals. */
function picoOf(usd: string): bigint {
  const [whole = "0", decimals = ""] = usd.replace("$", "").split(".");
  return BigInt(whole + decimals.padEnd(12, "0"));
}

export function renderRow(row: Row): string {
  const { hitRate, exits, equal, different, brokenOff, optimized } = row;
  const lines = [
    `${row.client}: exit ${exits.map((exit) => exit ?? "stopped").join(", ")}; ${row.requests} requests, ${row.calls} calls, ${row.seconds} s`,
    `hit rate ${hitRate === null ? "unknown" : `${(hitRate * 100).toFixed(1)} %`}, ${row.costUsd}, billed ${row.billedUsd}${row.isBillEqual ? "" : ": NOT EQUAL"}`,
    ...(optimized === null ? [] : [describeOptimized(optimized)]),
    `${optimized === null ? "bytes" : "all but markers"} equal for ${equal} exchanges, different for ${different.length === 0 ? "none" : different.join("; ")}${brokenOff === 0 ? "" : `, broken off ${brokenOff}`}`,
    ...row.userAgents.map((words) => `says: ${words}`),
    ...row.conversations.map((words) => `conversation: ${words}`),
    ...row.misses.map((words) => `miss: ${words}`),
    ...row.notes.map((words) => `note: ${words}`),
    ...row.failures.map((words) => `call ${words}`),
    ...row.others.map((words) => `no call: ${words}`),
    ...(row.faults === 0 ? [] : [`faults of the observer: ${row.faults}`]),
    ...row.problems.map((words) => `problem: ${words}`),
  ];
  return `${lines.join("\n  ")}\n`;
}

function describeOptimized({ calls, clientUsd, ratio }: Optimized): string {
  const share = ratio === null ? "" : `, ${ratio.toFixed(4)} of it`;
  return `${calls} calls with our markers; the same requests with the client's own: ${clientUsd}${share}`;
}
