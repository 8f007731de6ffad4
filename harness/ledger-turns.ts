// Sample turns as an engine records them: a question, a tool use, its result, an answer; two calls.
import type { CachePlan } from "../src/core/cache/cache-plan.ts";
import { hashContent } from "../src/core/hash.ts";
import type { CallEntry } from "../src/core/ledger/call-entry.ts";
import type { Ledger, WithCall } from "../src/core/ledger/ledger.ts";
import type { NewSession } from "../src/core/ledger/session-record.ts";
import type { NewMessage } from "../src/core/ledger/turn-record.ts";
import type { Message } from "../src/core/message/message.ts";
import type { Random } from "./random-message.ts";

export interface SampleTurn {
  readonly question: NewMessage;
  /** Null if the question is answered without a tool. */
  readonly tool: { readonly use: Message; readonly result: NewMessage } | null;
  readonly answer: Message;
  readonly stateJson: string;
}

const toolUseId = "toolu_01";
const model = "claude-sonnet-4-6";
const provider = "anthropic";

/** Four messages of `bytes` in all. */
export function createSampleTurn(random: Random, bytes: number): SampleTurn {
  const share = Math.floor(bytes / 4);
  return {
    question: counted(say("user", createText(random, share))),
    tool: {
      use: {
        role: "assistant",
        content: [
          { type: "text", text: createText(random, share / 2) },
          {
            type: "tool_use",
            id: toolUseId,
            name: "Edit",
            inputJson: JSON.stringify({ path: "src/a.ts", text: createText(random, share / 2) }),
          },
        ],
      },
      result: counted(answerTool(toolUseId, createText(random, share))),
    },
    answer: say("assistant", createText(random, share)),
    stateJson: createState(random),
  };
}

/** Two messages of `bytes` each, one call. */
export function createShortTurn(random: Random, bytes: number): SampleTurn {
  return {
    question: counted(say("user", createText(random, bytes))),
    tool: null,
    answer: say("assistant", createText(random, bytes)),
    stateJson: createState(random),
  };
}

export function say(role: "user" | "assistant", text: string): Message {
  return { role, content: [{ type: "text", text }] };
}

export function answerTool(id: string, text: string, isError = false): Message {
  const content = [{ type: "text" as const, text }];
  return { role: "tool", content: [{ type: "tool_result", toolUseId: id, content, isError }] };
}

export function counted(message: Message): NewMessage {
  return { message, tokens: 500 };
}

/** Words, line breaks and quotes, as models write. */
export function createText(random: Random, length: number): string {
  let text = "";
  while (text.length < length) text += words[Math.floor(random() * words.length)] ?? "";
  return text.slice(0, length);
}

const words = [
  "the ",
  "cache ",
  'a "quoted" ',
  "line\n",
  "  return value;\n",
  "und größer ",
  "of ",
];

/** The state of a session: three anchors and a pace. */
function createState(random: Random): string {
  const entries = Array.from({ length: 3 }, (_, block) => ({
    block,
    key: hashContent(String(random())),
    lifetime: "5m",
    expiresMs: 1_800_000_000_000,
  }));
  return JSON.stringify({ format: 1, cache: { entries, lastStartMs: 1 }, pace: { gapMs: 20_000 } });
}

export function sampleSession(id: string): NewSession {
  return { id, agent: "bench", role: "unified", model, provider };
}

export interface CallParts {
  readonly turnId: string;
  readonly number: number;
  readonly sent: readonly Message[];
  readonly reply: Message | null;
  readonly costPicoUsd?: bigint;
  readonly status?: CallEntry["status"];
}

export function sampleCall(parts: CallParts): CallEntry {
  const { reply, status = "complete", costPicoUsd = 1_234_500_000n } = parts;
  const usesTool = reply?.content.some(({ type }) => type === "tool_use") === true;
  return {
    turnId: parts.turnId,
    number: parts.number,
    startMs: 1_800_000_000_000,
    endMs: 1_800_000_004_000,
    model,
    policy: "adaptive",
    promptKey: hashContent(`${parts.turnId} ${parts.number}`),
    plan: samplePlan,
    sent: parts.sent,
    reply,
    status,
    stopReason: status === "complete" ? (usesTool ? "tool_use" : "end_turn") : null,
    usage: {
      uncachedTokens: 12,
      cacheReadTokens: 41_000,
      cacheWriteTokens: { "5m": 900 },
      outputTokens: 420,
      reasoningTokens: 0,
    },
    discarded: [],
    costPicoUsd,
    failure: status === "complete" ? null : { kind: "timeout", detail: "no answer" },
    verdict: {
      kind: "as expected",
      expectedTokens: 41_000,
      reportedTokens: 41_000,
      promise: "writes are kept",
    },
    refuted: [],
    notes: [],
  };
}

const markerKeys = ["head", "step", "tail"].map((name) => hashContent(name));

const samplePlan: CachePlan = {
  markers: markerKeys.map((key, index) => ({
    block: 40 * (index + 1),
    key,
    lifetime: "5m",
    slot: "step",
    reason: "the next call reads up to here",
  })),
  requestMarker: null,
  mode: null,
  cacheKey: null,
  expected: {
    hitBlock: 80,
    hit: null,
    spanEnds: { "5m": 120 },
    refreshed: [],
    written: [],
    readTokens: 41_000,
    writeTokens: { "5m": 900 },
    uncachedTokens: 12,
    costPicoUsd: 987_000_000n,
  },
  dropped: [],
  keepWarm: { pays: false, afterMs: null, gainTokens: 0, reason: "the next call comes in time" },
};

/** The calls of a turn with everything to record, prepared before timing starts. */
export interface PreparedTurn {
  readonly id: string;
  readonly sample: SampleTurn;
  readonly calls: readonly { readonly entry: CallEntry; readonly more: WithCall }[];
}

export function prepareTurn(id: string, sample: SampleTurn): PreparedTurn {
  const { question, tool, answer, stateJson } = sample;
  const rounds =
    tool === null
      ? [{ sent: question.message, reply: answer }]
      : [
          { sent: question.message, reply: tool.use },
          { sent: tool.result.message, reply: answer },
        ];
  const calls = rounds.map(({ sent, reply }, index) => ({
    entry: sampleCall({ turnId: id, number: index + 1, sent: [sent], reply }),
    more: { tokens: [500, 500], stateJson },
  }));
  return { id, sample, calls };
}

/** Opens, calls, answers and closes, with one commit each. */
export async function recordTurn(
  ledger: Pick<Ledger, "openTurn">,
  { id, sample, calls }: PreparedTurn,
  at: { readonly sessionId: string; readonly parentTurnId: string | null },
): Promise<void> {
  const turn = await ledger.openTurn({
    id,
    ...at,
    model,
    provider,
    role: "unified",
    startMs: 1_800_000_000_000,
    messages: [sample.question],
  });
  for (const [index, { entry, more }] of calls.entries()) {
    if (index > 0 && sample.tool !== null) await turn.answer([sample.tool.result]);
    await turn.append(entry, more);
  }
  await turn.close({ status: "completed", endMs: 1_800_000_005_000 });
}
