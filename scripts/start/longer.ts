// npm start -- longer: twelve turns with long pauses under five policies, resumed from the ledger half-way, then a
// session that is compacted.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import example from "../../fixtures/example-session.json" with { type: "json" };
import { renderTable, type Column } from "../../src/cli/table.ts";
import { findPolicy } from "../../src/core/cache/policies.ts";
import type { PolicyName } from "../../src/core/cache/policy.ts";
import type { CallEntry } from "../../src/core/ledger/call-entry.ts";
import type { Message, ToolUseBlock } from "../../src/core/message/message.ts";
import { toToolDefinition } from "../../src/core/message/tool-definition.ts";
import { hitRate, totalUsage, type Usage } from "../../src/core/message/usage.ts";
import { formatUsdRounded } from "../../src/core/models/pico-usd.ts";
import { resolveModel } from "../../src/core/models/resolve-model.ts";
import { cheapCounter } from "../../src/core/tokens/cheap-counter.ts";
import { anthropicMessages } from "../../src/core/wire/anthropic-messages/index.ts";
import { anthropicEndpoint } from "../../src/core/wire/anthropic-messages/access.ts";
import { createProvider } from "../../src/edge/providers/provider.ts";
import { openLedger } from "../../src/edge/stores/open-ledger.ts";
import { runTurn, type TurnResult } from "../../src/engine.ts";
import { openSession } from "../../src/engine/session/open-session.ts";
import type { Session } from "../../src/core/session/session.ts";
import { resumeSession, type ResumeSetup } from "../../src/engine/session/stored-session.ts";
import * as simulation from "../../src/simulator/index.ts";
import { printCompaction } from "./compaction.ts";

/** A call in the records of both sides. */
interface BilledCall {
  readonly entry: CallEntry;
  readonly usage: Usage;
  readonly costPicoUsd: bigint;
  readonly bill: simulation.Bill;
}

interface Run {
  readonly policy: PolicyName;
  readonly calls: readonly BilledCall[];
}

const { facts } = resolveModel(example.model);

/** After this turn only the ledger's file is kept. */
const restartAfter = 6;

export async function runLonger(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "strata-start-"));
  const file = join(folder, "ledger.db");
  try {
    const runs: Run[] = [];
    for (const policy of ["adaptive", "tail-5m", "metis", "hermes", "none"] as const) {
      runs.push({ policy, calls: await runExample(policy, file) });
    }
    const adaptive = runs[0]?.calls ?? [];
    printCalls(adaptive);
    await printLedger(adaptive, file);
    printTotals(runs);
    const ledger = await openLedger(file);
    await printCompaction(ledger);
    await ledger.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs the whole session under one policy on its own simulator, at the fixture's times. */
async function runExample(policy: PolicyName, file: string): Promise<readonly BilledCall[]> {
  const simulator = simulation.createSimulator({
    seed: 1,
    clock: { virtualStartMs: Date.parse(example.startAt) },
    model: simulation.createScripted(
      example.turns.flatMap<simulation.ScriptStep>(({ replies }) => replies),
    ),
  });
  const { clock } = simulator;
  const server = await simulator.listen({ port: 0 });
  const provider = createProvider({
    protocol: anthropicMessages,
    ...anthropicEndpoint({ apiKey: "none needed", baseUrl: server.url }),
    retries: { attemptsMax: 1 },
  });
  let ledger = await openLedger(file);
  let session = openExample(policy);
  const entries: CallEntry[] = [];
  try {
    for (const [index, { afterSeconds, text, replies }] of example.turns.entries()) {
      await clock.advance(afterSeconds * 1000);
      const asked = replies.values();
      const turn = { id: `${policy} ${index + 1}`, event: { content: text, source: "human" } };
      const done = await runTurn(session, turn, {
        provider,
        ledger,
        now: () => clock.now(),
        runTools: async (uses) => {
          const { toolCalls = [], toolSeconds = 0 } = asked.next().value ?? {};
          await clock.advance(toolSeconds * 1000);
          return uses.map((use, each) => toResult(use, toolCalls[each]?.result));
        },
      });
      checkTurn(done, replies.length);
      session = done.session;
      entries.push(...done.calls);
      if (index + 1 !== restartAfter) continue;
      await ledger.close();
      ledger = await openLedger(file);
      session = await resumeSession(ledger, policy, setupOf(policy));
    }
  } finally {
    await provider.close();
    await server.close();
    await ledger.close();
  }
  const bills = simulator.calls().map(({ billed }) => billed?.bill);
  return entries.map((entry, index) => toBilledCall(entry, bills[index]));
}

function openExample(policy: PolicyName): Session {
  const { workspaceRules, identity, memory, startAt, tools } = example;
  const date = startAt.slice(0, 10);
  return openSession({
    id: policy,
    agent: "example",
    ...setupOf(policy),
    context: { role: "unified", workspaceRules, persona: { identity }, memory, date },
    tools: tools.map((tool) => ({ definition: toToolDefinition(tool), needs: [] })),
  });
}

/** What a resume needs besides the ledger. */
function setupOf(policy: PolicyName): ResumeSetup {
  return {
    model: facts,
    protocol: anthropicMessages,
    policy: findPolicy(policy),
    counter: cheapCounter,
    options: { outputTokensMax: 4000, stream: true },
  };
}

function toResult({ id, name }: ToolUseBlock, text: string | undefined): Message {
  if (text === undefined) throw new Error(`the fixture has no result for a use of ${name}`);
  const content = [{ type: "text" as const, text }];
  const result = { type: "tool_result" as const, toolUseId: id, content, isError: false };
  return { role: "tool", content: [result] };
}

function checkTurn({ end, calls }: TurnResult, callsExpected: number): void {
  if (end === "done" && calls.length === callsExpected) return;
  const failure = calls.at(-1)?.failure ?? { kind: end, detail: `of ${callsExpected} calls` };
  throw new Error(`${placeOf(calls.at(-1))}: ${failure.kind}, ${failure.detail}`);
}

function toBilledCall(entry: CallEntry, bill: simulation.Bill | undefined): BilledCall {
  const { usage, costPicoUsd } = entry;
  if (usage !== null && costPicoUsd !== null && bill) return { entry, usage, costPicoUsd, bill };
  throw new Error(`${placeOf(entry)} has no bill`);
}

function placeOf(entry: CallEntry | undefined): string {
  return `call ${entry?.number} of turn ${entry?.turnId} under ${entry?.policy}`;
}

function printCalls(calls: readonly BilledCall[]): void {
  const columns: readonly Column<BilledCall>[] = [
    toNumbers("turn", ({ entry }) => turnOf(entry)),
    toNumbers("call", ({ entry }) => entry.number),
    toNumbers("time", ({ entry }) => new Date(entry.startMs).toISOString().slice(11, 19)),
    toNumbers("read", ({ usage }) => usage.cacheReadTokens),
    toNumbers("write5m", ({ usage }) => usage.cacheWriteTokens["5m"] ?? 0),
    toNumbers("write1h", ({ usage }) => usage.cacheWriteTokens["1h"] ?? 0),
    toNumbers("fresh", ({ usage }) => usage.uncachedTokens),
    toNumbers("dollars", ({ costPicoUsd }) => formatUsdRounded(costPicoUsd, 5)),
    { title: "why", cell: (call) => whyOf(call, calls) },
  ];
  const held = calls.filter(({ entry }) => entry.verdict?.kind === "as expected").length;
  console.log(
    `${example.about}\nModel ${facts.id}, prices of ${facts.checkedOn}, policy adaptive,`,
  );
  console.log("billed by the built-in simulator over loopback.\n");
  console.log(renderTable(columns, calls));
  console.log(`${held} of ${calls.length} calls read what their plan expected.\n`);
}

function turnOf({ turnId }: CallEntry): number {
  return Number(turnId.split(" ").at(-1));
}

/** Prints what the ledger has after the processes ended. */
async function printLedger(calls: readonly BilledCall[], file: string): Promise<void> {
  const ledger = await openLedger(file);
  const record = await ledger.findSession("adaptive");
  const problems: string[] = [];
  for await (const problem of ledger.check()) problems.push(problem);
  const { rows } = await ledger.stats();
  await ledger.close();
  const next = calls.find(({ entry }) => turnOf(entry) === restartAfter + 1);
  if (record === null || next === undefined || problems.length > 0) {
    throw new Error(problems[0] ?? "the ledger does not have the session");
  }
  const { verdict } = next.entry;
  console.log(
    `After turn ${restartAfter} the session was resumed from the ledger: the next call read ${verdict?.reportedTokens} of ${verdict?.expectedTokens} tokens it expected.`,
  );
  console.log(
    `The ledger has its ${record.turnCount} turns at ${formatUsdRounded(record.costPicoUsd, 5)}; with the sessions below ${rows["calls"]} calls and ${rows["messages"]} messages in one file, checked.\n`,
  );
}

/** What a call read and which marker wrote it, from the simulator's record. */
function whyOf({ entry, bill }: BilledCall, calls: readonly BilledCall[]): string {
  const before = calls[calls.findIndex((call) => call.entry === entry) - 1];
  if (before === undefined) return "first call";
  const minutes = Math.round((entry.startMs - before.entry.startMs) / 60_000);
  const pause = minutes < 60 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
  const after = minutes < 5 ? "" : `after ${pause}: `;
  const { reason, hitBlock } = bill;
  if (reason.kind === "expired") return `${after}nothing left`;
  if (reason.kind !== "hit") return `${after}${simulation.describeReason(reason)}`;
  const writer = calls.find((call) => call.bill.requestId === reason.writtenBy);
  const slot = writer?.entry.plan.markers.find(({ block }) => block === hitBlock)?.slot;
  const isLastEnd = writer === before && slot === "tail";
  return `${after}read up to the ${isLastEnd ? "last call's end" : `${reason.lifetime} ${slot}`}`;
}

function printTotals(runs: readonly Run[]): void {
  const totals = runs.map(({ policy, calls }) => ({
    policy,
    usage: totalUsage(calls.map(({ usage }) => usage)),
    picoUsd: calls.reduce((sum, { costPicoUsd }) => sum + costPicoUsd, 0n),
  }));
  const ranked = totals.toSorted((left, right) => Number(left.picoUsd - right.picoUsd));
  const costUnder = (name: PolicyName): number =>
    Number(totals.find(({ policy }) => policy === name)?.picoUsd);
  const columns: readonly Column<(typeof totals)[number]>[] = [
    { title: "policy", cell: ({ policy }) => policy },
    toNumbers("dollars", ({ picoUsd }) => formatUsdRounded(picoUsd, 5)),
    toNumbers("of none", ({ picoUsd }) => toPercent(Number(picoUsd) / costUnder("none"))),
    toNumbers("hit rate", ({ usage }) => toPercent(hitRate(usage) ?? 0)),
  ];
  const times = (name: PolicyName): string => (costUnder(name) / costUnder("adaptive")).toFixed(2);
  console.log(renderTable(columns, ranked));
  console.log(
    `The same ${example.turns.length} turns cost ${times("tail-5m")} times as much under tail-5m as under adaptive, and ${times("none")} under none.`,
  );
}

function toPercent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

function toNumbers<Row>(title: string, cell: (row: Row) => string | number): Column<Row> {
  return { title, align: "right", cell: (row) => String(cell(row)) };
}
