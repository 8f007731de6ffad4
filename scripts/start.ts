// npm start: one example session on the built-in simulator, under two cache layouts. No key, no network; ends by itself.
import { readFileSync } from "node:fs";
import { renderTable, type Column } from "../src/cli/table.ts";
import {
  costOf,
  encodeToolDefinition,
  formatUsdRounded,
  hitRate,
  resolveModel,
  savingsOverNoCache,
  toToolDefinition,
  totalUsage,
  writtenTokens,
  type Usage,
} from "../src/index.ts";
import { createScripted, createSimulator, describeReason } from "../src/simulator/index.ts";

interface ExampleSession {
  readonly about: string;
  readonly model: string;
  readonly system: string;
  readonly tools: readonly Parameters<typeof toToolDefinition>[0][];
  readonly calls: readonly ExampleCall[];
}

interface ExampleCall {
  readonly at: string;
  readonly append: readonly { readonly content: readonly Block[] }[];
  readonly reply: { readonly content: readonly Block[] };
}

/** Blocks in Anthropic's spelling, as the fixture and the wire have them. */
type Block = Readonly<Record<string, unknown>>;

/** Where the time of day stands: where many agents put it, or after the marker. */
const layouts = ["clock in the system prompt", "clock after the last message"] as const;
type Layout = (typeof layouts)[number];

const session = JSON.parse(
  readFileSync(new URL("../fixtures/example-session.json", import.meta.url), "utf8"),
) as ExampleSession;
const { facts } = resolveModel(session.model);
const at = session.calls[0]?.at ?? facts.checkedOn;

print(await runSession(layouts[0]), await runSession(layouts[1]));

interface Run {
  readonly usages: readonly Usage[];
  /** Why the second call read what it read, in the simulator's words. */
  readonly why: string;
}

/** Sends the session's requests over loopback, at their times, with one five-minute marker on the last message. */
async function runSession(layout: Layout): Promise<Run> {
  const simulator = createSimulator({
    seed: 1,
    clock: { virtualStartMs: Date.parse(at) },
    model: createScripted(session.calls.map(({ reply }) => toStep(reply.content))),
  });
  const server = await simulator.listen({ port: 0 });
  const usages: Usage[] = [];
  const messages: { role: string; content: Block[] }[] = [];
  const ids = new Map<unknown, unknown>();
  for (const call of session.calls) {
    await simulator.clock.set(Date.parse(call.at));
    const content = call.append.flatMap((message) => message.content);
    messages.push({ role: "user", content: content.map((block) => answering(block, ids)) });
    const reply = await send(server.url, toBody(layout, messages, `The time is ${call.at}.`));
    messages.push({ role: "assistant", content: reply.content });
    toolUses(call.reply.content).forEach((use, index) => {
      ids.set(use["id"], toolUses(reply.content)[index]?.["id"]);
    });
    usages.push(toUsage(reply.usage));
  }
  await server.close();
  const reason = simulator.calls()[1]?.billed?.bill.reason;
  return { usages, why: reason === undefined ? "" : describeReason(reason) };
}

function toBody(
  layout: Layout,
  messages: readonly { role: string; content: readonly Block[] }[],
  clock: string,
): string {
  const inSystem = layout === "clock in the system prompt";
  const before = messages.slice(0, -1);
  const last = messages.at(-1)?.content ?? [];
  const marked = { ...last.at(-1), cache_control: { type: "ephemeral" } };
  const tail = inSystem ? [] : [{ type: "text", text: clock }];
  const tools = session.tools.map((tool) => encodeToolDefinition(toToolDefinition(tool)));
  return JSON.stringify({
    model: session.model,
    max_tokens: 2000,
    tools: tools.map((json) => JSON.parse(json) as unknown),
    system: inSystem ? `${session.system}\n${clock}` : session.system,
    messages: [...before, { role: "user", content: [...last.slice(0, -1), marked, ...tail] }],
  });
}

interface WireUsage {
  readonly input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation: { readonly ephemeral_5m_input_tokens: number };
  readonly output_tokens: number;
}

async function send(url: string, body: string): Promise<{ content: Block[]; usage: WireUsage }> {
  const headers = { "x-api-key": "none needed", "anthropic-version": "2023-06-01" };
  const response = await fetch(`${url}/v1/messages`, { method: "POST", headers, body });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return JSON.parse(text) as { content: Block[]; usage: WireUsage };
}

function toUsage(usage: WireUsage): Usage {
  return {
    uncachedTokens: usage.input_tokens,
    cacheReadTokens: usage.cache_read_input_tokens,
    cacheWriteTokens: { "5m": usage.cache_creation.ephemeral_5m_input_tokens },
    outputTokens: usage.output_tokens,
    reasoningTokens: 0,
  };
}

function toStep(content: readonly Block[]): Parameters<typeof createScripted>[0][number] {
  const text = content.find(({ type }) => type === "text")?.["text"];
  const toolCalls = toolUses(content).map(({ name, input }) => ({ name: String(name), input }));
  return { ...(typeof text === "string" ? { text } : {}), toolCalls };
}

function toolUses(content: readonly Block[]): readonly Block[] {
  return content.filter(({ type }) => type === "tool_use");
}

/** A tool result names the use by the id the model gave it in this run. */
function answering(block: Block, ids: ReadonlyMap<unknown, unknown>): Block {
  const id = block["tool_use_id"];
  return id === undefined ? block : { ...block, tool_use_id: ids.get(id) };
}

interface Row {
  readonly call: string;
  readonly left: Usage | undefined;
  readonly right: Usage | undefined;
}

function print(left: Run, right: Run): void {
  const rows = session.calls.map((call, index) => ({
    call: `${String(index + 1).padStart(2)}  ${call.at.slice(11, 19)}`,
    left: left.usages[index],
    right: right.usages[index],
  }));
  const columns: Column<Row>[] = [
    { title: "call", cell: ({ call }) => call },
    ...columnsOf((row) => row.left),
    { title: "|", cell: () => "|" },
    ...columnsOf((row) => row.right),
  ];
  console.log(`${session.about} Model ${facts.id}, prices of ${facts.checkedOn},`);
  console.log("billed by the built-in simulator over loopback.\n");
  console.log(`${" ".repeat(14)}${`A: ${layouts[0]}`.padEnd(35)}B: ${layouts[1]}`);
  console.log(renderTable(columns, rows));
  console.log(summary("A", layouts[0], left.usages));
  console.log(summary("B", layouts[1], right.usages));
  const ratio = Number((total(left.usages) * 100n) / total(right.usages)) / 100;
  console.log(
    `\nThe same words cost ${ratio} times as much under A. Why its second call read nothing:`,
  );
  console.log(`${left.why}. B's second call ${right.why}.`);
}

function columnsOf(side: (row: Row) => Usage | undefined): Column<Row>[] {
  const column = (title: string, cell: (usage: Usage) => string): Column<Row> => ({
    title,
    align: "right",
    cell: (row) => {
      const usage = side(row);
      return usage === undefined ? "-" : cell(usage);
    },
  });
  return [
    column("read", (usage) => String(usage.cacheReadTokens)),
    column("written", (usage) => String(writtenTokens(usage))),
    column("fresh", (usage) => String(usage.uncachedTokens)),
    column("dollars", (usage) => formatUsdRounded(costAt(usage), 5)),
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
