// npm start: one example session, priced under two cache layouts. Offline, no key, ends by itself.
import { readFileSync } from "node:fs";
import { renderTable, type Column } from "../src/cli/table.ts";
import {
  appendSealed,
  costOf,
  countMessage,
  countText,
  decodeMessage,
  emptyPrefix,
  encodeToolDefinition,
  estimateTokens,
  formatUsdRounded,
  hashContent,
  hitRate,
  loadO200k,
  noUsage,
  resolveModel,
  savingsOverNoCache,
  sealMessage,
  toToolDefinition,
  totalUsage,
  writtenTokens,
  type Message,
  type SealedMessage,
  type Usage,
} from "../src/index.ts";

interface ExampleSession {
  readonly about: string;
  readonly model: string;
  readonly system: string;
  readonly tools: readonly Parameters<typeof toToolDefinition>[0][];
  readonly calls: readonly ExampleCall[];
}

interface ExampleCall {
  readonly at: string;
  readonly append: readonly unknown[];
  readonly reply: unknown;
  readonly outputTokens: number;
}

/** Where the time of day stands: where many agents put it, or after the marker. */
const layouts = ["clock in the system prompt", "clock after the last message"] as const;
type Layout = (typeof layouts)[number];

const session = JSON.parse(
  readFileSync(new URL("../fixtures/example-session.json", import.meta.url), "utf8"),
) as ExampleSession;
const { facts } = resolveModel(session.model);
const counter = await loadO200k();
const at = session.calls[0]?.at ?? facts.checkedOn;

print(billSession(layouts[0]), billSession(layouts[1]));

/**
 * What each call is billed, with one five-minute marker on the last message. A call reads what the
 * call before wrote if its own request begins with the same bytes, and writes the rest up to its marker.
 */
function billSession(layout: Layout): Usage[] {
  let written = { prefix: emptyPrefix, at: "" };
  let messages: readonly Message[] = [];
  return session.calls.map((call) => {
    messages = [...messages, ...call.append.map(toMessage)];
    const clock = `The time is ${call.at}.`;
    const inSystem = layout === "clock in the system prompt";
    const request = [
      sealText(session.tools.map((tool) => encodeToolDefinition(toToolDefinition(tool))).join()),
      sealText(inSystem ? `${session.system}\n${clock}` : session.system),
      ...messages.map((message) => sealMessage(message, { count: tokensOf })),
    ];
    messages = [...messages, toMessage(call.reply)];
    const start = request.slice(0, written.prefix.length).reduce(appendSealed, emptyPrefix);
    const marked = request.slice(written.prefix.length).reduce(appendSealed, start);
    const isHit = start.key === written.prefix.key && isAlive(written.at, call.at);
    const isKept = marked.tokens >= (facts.cache.minimumTokens ?? 0);
    const readTokens = isHit ? start.tokens : 0;
    const newTokens = marked.tokens - readTokens;
    if (isKept) written = { prefix: marked, at: call.at };
    return {
      ...noUsage,
      cacheReadTokens: readTokens,
      cacheWriteTokens: isKept ? { "5m": newTokens } : {},
      uncachedTokens: (isKept ? 0 : newTokens) + (inSystem ? 0 : sealText(clock).tokens),
      outputTokens: call.outputTokens,
    };
  });
}

function isAlive(writtenAt: string, readAt: string): boolean {
  return Date.parse(readAt) - Date.parse(writtenAt) <= 5 * 60_000;
}

function toMessage(value: unknown): Message {
  return decodeMessage(JSON.stringify(value));
}

function tokensOf(message: Message): number {
  return estimateTokens(countMessage(message, counter), facts.tokenizer);
}

function sealText(text: string): SealedMessage {
  const tokens = estimateTokens(countText(text, counter), facts.tokenizer);
  return { key: hashContent(text), tokens, wire: new TextEncoder().encode(text) };
}

interface Row {
  readonly call: string;
  readonly left: Usage;
  readonly right: Usage;
}

function print(left: readonly Usage[], right: readonly Usage[]): void {
  const rows = session.calls.map((call, index) => ({
    call: `${String(index + 1).padStart(2)}  ${call.at.slice(11, 19)}`,
    left: left[index] ?? noUsage,
    right: right[index] ?? noUsage,
  }));
  const columns: Column<Row>[] = [
    { title: "call", cell: ({ call }) => call },
    ...columnsOf((row) => row.left),
    { title: "|", cell: () => "|" },
    ...columnsOf((row) => row.right),
  ];
  console.log(`${session.about} Model ${facts.id}, prices of ${facts.checkedOn}.\n`);
  console.log(`${" ".repeat(14)}${`A: ${layouts[0]}`.padEnd(35)}B: ${layouts[1]}`);
  console.log(renderTable(columns, rows));
  console.log(summary("A", layouts[0], left));
  console.log(summary("B", layouts[1], right));
  const ratio = Number((total(left) * 100n) / total(right)) / 100;
  console.log(
    `\nThe same words cost ${ratio} times as much under A. Its second call differs from the`,
  );
  console.log(
    "first in the system prompt, so nothing after that can be read and all is written again.",
  );
}

function columnsOf(side: (row: Row) => Usage): Column<Row>[] {
  return [
    { title: "read", cell: (row) => String(side(row).cacheReadTokens), align: "right" },
    { title: "written", cell: (row) => String(writtenTokens(side(row))), align: "right" },
    { title: "fresh", cell: (row) => String(side(row).uncachedTokens), align: "right" },
    { title: "dollars", cell: (row) => formatUsdRounded(costAt(side(row)), 5), align: "right" },
  ];
}

function summary(letter: string, layout: Layout, usages: readonly Usage[]): string {
  const rate = Math.round((hitRate(totalUsage(usages)) ?? 0) * 100);
  const saved = usages.reduce((sum, usage) => sum + savingsOverNoCache(usage, facts, { at }), 0n);
  const than = saved >= 0n ? "less" : "more";
  const difference = formatUsdRounded(saved >= 0n ? saved : -saved, 5);
  return `${letter}  ${layout.padEnd(28)}  ${formatUsdRounded(total(usages), 5)}, ${rate} % read from cache, ${difference} ${than} than without caching`;
}

function total(usages: readonly Usage[]): bigint {
  return usages.reduce((sum, usage) => sum + costAt(usage), 0n);
}

function costAt(usage: Usage): bigint {
  return costOf(usage, facts, { at }).totalPicoUsd;
}
