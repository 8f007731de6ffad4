// For tests: runs the program in the same process, and creates an example ledger.
import { channel } from "node:diagnostics_channel";
import { readFileSync } from "node:fs";
import type { CallEntry } from "../core/ledger/call-entry.ts";
import type { Ledger } from "../core/ledger/ledger.ts";
import type { NewMessage } from "../core/ledger/turn-record.ts";
import type { Message } from "../core/message/message.ts";
import { planOf } from "../core/wire/test-kit.ts";
import { openLedger } from "../edge/stores/open-ledger.ts";
import type { Io } from "./command.ts";
import { runCli } from "./run-cli.ts";

export interface Ran {
  readonly status: number;
  readonly out: string;
  readonly error: string;
}

export async function strata(
  env: Readonly<Record<string, string>>,
  ...typed: readonly string[]
): Promise<Ran> {
  const test = createTestIo(env);
  const status = await runCli(typed, test.io);
  return { status, ...test.said };
}

export interface TestIo {
  readonly io: Io;
  /** What was printed so far. */
  readonly said: { out: string; error: string };
}

/** Keeps the output of a command, and publishes it to the search for planted secrets. */
export function createTestIo(env: Io["env"] = {}): TestIo {
  const kept = { out: "", error: "" };
  const keep =
    (name: keyof typeof kept) =>
    (text: string): void => {
      kept[name] += text;
      channel(`strata.test.${name}`).publish(text);
    };
  return { io: { out: keep("out"), error: keep("error"), env }, said: kept };
}

/** The example queries of docs/ledger.md. */
export function sqlExamples(): readonly string[] {
  const text = readFileSync("docs/ledger.md", "utf8");
  return [...text.matchAll(/```sql\n(.*?);\n```/gs)].map(([, sql = ""]) => sql);
}

export const startMs: number = Date.UTC(2026, 10, 16, 9);

/**
 * `build` with three turns of two calls each, the first two compacted; then a turn that failed. `worker` is a
 * sub-agent of it with a turn that was left open.
 */
export async function makeExample(where: string): Promise<void> {
  const ledger = await openLedger(where, { now: () => startMs });
  const setup = { agent: "coder", role: "unified", model: "claude-x", provider: "garage" } as const;
  await ledger.createSession({ id: "build", ...setup, foundation: "You build." });
  for (const number of [1, 2, 3]) await addTurn(ledger, "build", number);
  await compactTwo(ledger);
  await failTurn(ledger, "build", "turn-4", "compaction-1");
  const parent = { sessionId: "build", turnId: "turn-3" };
  await ledger.createSession({ id: "worker", ...setup, parent, task: "look around" });
  const turn = await ledger.openTurn(newTurn("worker", "turn-5", null, "go"));
  await turn.release();
  await ledger.close();
}

export async function addTurn(
  ledger: Ledger,
  session: string,
  number: number,
  prefix = "",
): Promise<void> {
  const id = `${prefix}turn-${number}`;
  const parent = number === 1 ? null : `${prefix}turn-${number - 1}`;
  const turn = await ledger.openTurn(newTurn(session, id, parent, `question ${number}`));
  const use = {
    type: "tool_use",
    id: "use-1",
    name: "Read",
    inputJson: '{"path":"a.ts"}',
  } as const;
  const asked: Message = { role: "assistant", content: [use] };
  const answer = said("tool", [
    {
      type: "tool_result",
      toolUseId: "use-1",
      content: [{ type: "text", text: `file ${number}` }],
      isError: false,
    },
  ]);
  await turn.append(callOf(id, 1, [words("user", `question ${number}`).message], asked));
  await turn.answer([answer]);
  const reply = words("assistant", `answer ${number}`).message;
  await turn.append(callOf(id, 2, [answer.message], reply));
  await turn.close({ status: "completed", endMs: startMs });
}

async function failTurn(
  ledger: Ledger,
  session: string,
  id: string,
  parent: string,
): Promise<void> {
  const turn = await ledger.openTurn(newTurn(session, id, parent, "what failed"));
  await turn.append(callOf(id, 1, [words("user", "what failed").message], null), {});
  await turn.close({ status: "failed", endMs: startMs, reason: "refused" });
}

async function compactTwo(ledger: Ledger): Promise<void> {
  const lock = await ledger.lockCompaction("build");
  await lock?.commit({
    id: "compaction-1",
    sessionId: "build",
    parentTurnId: "turn-3",
    messages: [words("user", "what happened so far")],
    details: {
      compactedMs: startMs,
      summary: "what happened so far",
      summarizedThroughTurnId: "turn-2",
      firstKeptTurnId: "turn-3",
      turnsSummarized: 2,
      kind: "summary",
      trigger: "manual",
      model: "claude-x",
      provider: "garage",
      tokensBefore: 4000,
      tokensAfter: 1500,
      summaryTokens: 100,
      inputTokens: 4000,
      outputTokens: 100,
      costPicoUsd: 30_000_000_000n,
      durationMs: 60_000,
      headTurnCount: 3,
      tailStartIndex: 8,
    },
  });
  await lock?.release();
}

function newTurn(
  sessionId: string,
  id: string,
  parentTurnId: string | null,
  text: string,
): Parameters<Ledger["openTurn"]>[0] {
  return {
    id,
    sessionId,
    parentTurnId,
    model: "claude-x",
    provider: "garage",
    role: "unified",
    startMs,
    messages: [words("user", text)],
  };
}

export function words(role: Message["role"], text: string): NewMessage {
  return said(role, [{ type: "text", text }]);
}

function said(role: Message["role"], content: Message["content"]): NewMessage {
  return { message: { role, content }, tokens: 10 };
}

/** 750 of 1000 tokens read, a cent each. */
function callOf(
  turnId: string,
  number: number,
  sent: readonly Message[],
  reply: Message | null,
): CallEntry {
  return {
    turnId,
    number,
    startMs,
    endMs: startMs + 1000,
    model: "claude-x",
    policy: "adaptive",
    promptKey: `key-${turnId}-${number}`,
    plan: planOf(),
    status: reply === null ? "failed" : "complete",
    stopReason: reply === null ? null : number === 1 ? "tool_use" : "end_turn",
    usage: {
      uncachedTokens: 50,
      cacheReadTokens: 750,
      cacheWriteTokens: { "5m": 200 },
      outputTokens: 40,
      reasoningTokens: 0,
    },
    discarded: [],
    costPicoUsd: 10_000_000_000n,
    failure: null,
    verdict: null,
    refuted: [],
    notes: [],
    sent,
    reply,
  };
}
