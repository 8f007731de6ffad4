// The work of a node: turns with and without tools, compactions between and inside turns.
import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { Random } from "../../harness/random-message.ts";
import { findPolicy } from "../../src/core/cache/policies.ts";
import { defaultCompactionSettings } from "../../src/core/compaction/plan/settings.ts";
import type { Ledger } from "../../src/core/ledger/ledger.ts";
import type { Message, ToolUseBlock } from "../../src/core/message/message.ts";
import { toToolDefinition } from "../../src/core/message/tool-definition.ts";
import { resolveModel } from "../../src/core/models/resolve-model.ts";
import { cheapCounter } from "../../src/core/tokens/cheap-counter.ts";
import { anthropicMessages } from "../../src/core/wire/anthropic-messages/index.ts";
import { bodyText } from "../../src/core/wire/encoded-request.ts";
import { anthropicEndpoint } from "../../src/core/wire/anthropic-messages/access.ts";
import { createProvider, type Provider } from "../../src/edge/providers/provider.ts";
import { resumeTurn, runTurn, type Deps, type TurnResult } from "../../src/engine.ts";
import { compactSession } from "../../src/engine/compaction/compact-session.ts";
import { openSession } from "../../src/engine/session/open-session.ts";
import type { SessionSetup } from "../../src/core/session/session.ts";
import { resumeSession } from "../../src/engine/session/stored-session.ts";
import { isConflict } from "../ledger/stage.ts";
import { createFiller } from "./speak.ts";
import type { Counted } from "./node-event.ts";

export interface Worker {
  /** Runs one turn or compaction, whatever is due in the session. */
  work(sessionId: string): Promise<void>;
  close(): Promise<void>;
}

export interface WorkerOptions {
  readonly ledger: Ledger;
  readonly providerUrl: string;
  readonly random: Random;
  readonly count: (what: Counted) => void;
  /** The longest time of a summary call. */
  readonly summaryMsMax: number;
  /** Compactions whenever possible, and runs turns only otherwise. */
  readonly compactionsFirst: boolean;
}

/** Throws every error except a conflict. */
export function createWorker(options: WorkerOptions): Worker {
  const { ledger, random, count, compactionsFirst } = options;
  const provider = createProvider({
    protocol: anthropicMessages,
    ...anthropicEndpoint({ apiKey: "none needed", baseUrl: options.providerUrl }),
  });
  const deps = edgesOf(options, provider);
  return {
    work: async (sessionId) => {
      try {
        await step(sessionId, { deps, ledger, random, count, compactionsFirst });
      } catch (error) {
        if (!isConflict(error)) throw error;
        count("conflicts");
      }
    },
    close: () => provider.close(),
  };
}

interface Stage extends Pick<WorkerOptions, "ledger" | "random" | "count" | "compactionsFirst"> {
  readonly deps: Deps;
}

async function step(sessionId: string, stage: Stage): Promise<void> {
  const { deps, ledger, random, count, compactionsFirst } = stage;
  const setup = setupOf(sessionId);
  const record = await ledger.findSession(sessionId);
  const session =
    record === null ? openSession(setup) : await resumeSession(ledger, sessionId, setup);
  if (record !== null && record.openTurnId !== null) {
    if ((await ledger.findUnfinished(sessionId)) === null) return;
    if (random() < 0.3) {
      await ledger.abandonTurn(sessionId);
      count("abandoned");
      return;
    }
    const run = await resumeTurn(session, {}, deps);
    count("resumed");
    await finish(run, ledger, count);
    return;
  }
  if (record !== null && (compactionsFirst || random() < 0.4)) {
    const run = await compactSession(session, {}, deps);
    const hasNothing = run.kind === "unchanged" && run.why === "no boundary";
    if (run.kind === "unchanged" && run.spent.length > 0) count("folds without result");
    if (!compactionsFirst || !hasNothing) return;
  }
  const fill = createFiller(random);
  const verb = random() < 0.6 && !compactionsFirst ? "Read" : "Tell";
  const event = { content: `${verb} it. ${fill(50 + random() * 400)}`, source: "human" };
  const before = session.compactionState.folds;
  const run = await runTurn(session, { id: randomUUID(), event }, deps);
  if (run.session.compactionState.folds > before) count("folds inside a turn");
  await finish(run, ledger, count);
}

/** Checks that the ledger returns the session as this process left it. */
async function finish(
  { end, calls, session }: TurnResult,
  ledger: Ledger,
  count: Stage["count"],
): Promise<void> {
  const refused = calls.flatMap(({ failure }) => (failure === null ? [] : [failure]));
  if (end !== "done" || refused.length > 0) {
    throw new Error(`a turn ended as ${end}: ${JSON.stringify(refused)}`);
  }
  count("turns");
  const read = await resumeSession(ledger, session.id, setupOf(session.id));
  if (read.headTurnId === session.headTurnId && read.thread.end.key !== session.thread.end.key) {
    throw new Error(`session ${session.id} differs after reading it again`);
  }
}

const tool = {
  definition: toToolDefinition({
    name: "read",
    description: "Shows a file.",
    inputSchema: { type: "object", properties: { path: { type: "string" } } },
  }),
  needs: [],
};

/** Sessions named `bound…` use a model that binds its thinking. */
function setupOf(id: string): SessionSetup {
  const model = resolveModel(
    id.startsWith("bound") ? "claude-opus-5-5" : "claude-sonnet-4-6",
  ).facts;
  return {
    id,
    model: { ...model, windowTokens, inputTokensMax: windowTokens },
    protocol: anthropicMessages,
    policy: findPolicy("adaptive"),
    context: { role: "unified", workspaceRules: "Answer briefly. ".repeat(300) },
    tools: [tool],
    counter: cheapCounter,
    options: { outputTokensMax: 500, stream: true },
  };
}

const windowTokens = 12_000;

function edgesOf(
  { ledger, random, summaryMsMax }: WorkerOptions,
  provider: Pick<Provider, "send">,
): Deps {
  const fill = createFiller(random);
  return {
    ledger,
    provider: {
      send: async (call) => {
        const isSummary = bodyText(call.request.pieces).includes("Write a summary of the");
        const sent = await provider.send(call);
        if (isSummary) await wait(random() * summaryMsMax);
        return sent;
      },
    },
    now: Date.now,
    runTools: (uses) => Promise.resolve(uses.map((use) => answer(use, fill(100 + random() * 300)))),
    compaction: {
      reserves: { responseTokens: 500, toolTokens: 500 },
      sleep: () => Promise.resolve(),
      settings: {
        ...defaultCompactionSettings,
        isEnabled: true,
        timing: "at once",
        compactAtShare: 0.4,
        summaryTokensMax: 800,
        indexTokensMax: 300,
        auto: {
          ...defaultCompactionSettings.auto,
          turnsBetweenMin: 0,
          callsBetweenMin: 0,
          compactionsMax: 1_000_000,
          ineffectivePassesMax: 1_000_000,
          consecutiveFailuresMax: 0,
          cooldownSeconds: [0],
        },
      },
    },
  };
}

function answer({ id }: ToolUseBlock, text: string): Message {
  const content = [{ type: "text" as const, text }];
  return {
    role: "tool",
    content: [{ type: "tool_result", toolUseId: id, content, isError: false }],
  };
}
