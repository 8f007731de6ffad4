// A session on the simulator, over HTTP and on either store, that is compacted as it goes: what every test here begins with.
import { expect, onTestFinished } from "vitest";
import { plantedKey } from "../../harness/planted-key.ts";
import { findPolicy } from "../../src/core/cache/policies.ts";
import {
  defaultCompactionSettings,
  type AutoSettings,
  type CompactionSettings,
} from "../../src/core/compaction/plan/settings.ts";
import type { EventType } from "../../src/core/events/event-catalogue.ts";
import type { EventOf, PayloadOf, StrataEvent } from "../../src/core/events/event.ts";
import { checkTrace, type TraceViolation } from "../../harness/check-trace.ts";
import type { CompactionRecord } from "../../src/core/ledger/compaction-record.ts";
import { resolveModel } from "../../src/core/models/resolve-model.ts";
import { cheapCounter } from "../../src/core/tokens/cheap-counter.ts";
import { createTokenCounter } from "../../src/core/tokens/token-counter.ts";
import type { Tool } from "../../src/core/tools/tool.ts";
import { anthropicMessages } from "../../src/core/wire/anthropic-messages/index.ts";
import { bodyText } from "../../src/core/wire/encoded-request.ts";
import type { Protocol } from "../../src/core/wire/protocol.ts";
import { createEventBus } from "../../src/edge/events/event-bus.ts";
import { anthropicEndpoint } from "../../src/core/wire/anthropic-messages/access.ts";
import { openaiEndpoint } from "../../src/core/wire/openai/access.ts";
import { createProvider, type Provider } from "../../src/edge/providers/provider.ts";
import type { Timeouts } from "../../src/edge/providers/timeouts.ts";
import { createDispatcher } from "../../src/edge/tools/dispatch/dispatcher.ts";
import {
  resumeTurn,
  runTurn,
  type Deps,
  type TurnResult,
  type TurnToRun,
} from "../../src/engine.ts";
import { compactSession } from "../../src/engine/compaction/compact-session.ts";
import type { Compaction } from "../../src/engine/turn/deps.ts";
import type { CompactionOutcome } from "../../src/core/turn/compaction/compacting.ts";
import { openSession } from "../../src/engine/session/open-session.ts";
import type { Session, SessionSetup } from "../../src/core/session/session.ts";
import { resumeSession } from "../../src/engine/session/stored-session.ts";
import { createSimulator, type Model, type Simulator } from "../../src/simulator/index.ts";
import { all, startMs } from "../ledger/test-kit.ts";
import type { OpenLedger, TestLedger } from "../ledger/stores.ts";
import { briefly, words, writesSummaries } from "./speakers.ts";

export interface WorldOptions {
  readonly model?: string;
  readonly protocol?: Protocol;
  readonly windowTokens?: number;
  readonly settings?: Partial<CompactionSettings>;
  readonly auto?: Partial<AutoSettings>;
  readonly compaction?: Omit<Compaction, "settings">;
  /** What the model answers: briefly, and to a request for a summary with one, by default. */
  readonly speak?: Model;
  readonly summary?: Model;
  readonly tools?: readonly Tool[];
  readonly setup?: Partial<SessionSetup>;
  /** From the calls for summaries. */
  readonly summaryTimeouts?: Partial<Timeouts>;
  /** The window of a model of its own for summaries; the session's model by default. */
  readonly summariserTokens?: number | undefined;
  /** The provider's limit: longer requests are refused. */
  readonly bodyBytesMax?: number;
}

export interface World {
  readonly simulator: Simulator;
  readonly store: TestLedger;
  readonly setup: SessionSetup;
  readonly deps: Deps;
  /** Goes on with every turn. */
  session: Session;
  /** What was sent, oldest first. */
  readonly bodies: SentBody[];
  /** What subscribers were told. */
  readonly told: StrataEvent[];
  /** One turn; throws nothing for what the model does. */
  say(text: string, more?: Partial<TurnToRun>): Promise<TurnResult>;
  /** The same in a world where something is otherwise. */
  sayTo(deps: Deps, text: string, more?: Partial<TurnToRun>): Promise<TurnResult>;
  /** Turns of about so many tokens each, numbered from `from`. */
  talk(count: number, options?: TalkOptions): Promise<readonly TurnResult[]>;
  compact(focus?: string): Promise<CompactionOutcome>;
  /** Another process takes the session over. */
  restart(): Promise<Session>;
  resumeTurn(deps?: Partial<Deps>): Promise<TurnResult>;
  /** Lets time pass, for the provider and for the ledger. */
  pass(ms: number): Promise<void>;
  folds(): Promise<readonly CompactionRecord[]>;
  /** Payloads of what was told, of one type. */
  payloads<Type extends EventType>(type: Type): readonly PayloadOf<Type>[];
  /** From the events in the ledger. */
  violations(): Promise<readonly TraceViolation[]>;
  /** Before the end of the test, where it has many. */
  close(): Promise<void>;
}

export interface SentBody {
  readonly wants: "reply" | "summary";
  readonly text: string;
}

export interface TalkOptions {
  readonly from?: number;
  readonly tokens?: number;
}

/** Small enough that a few turns fill it. */
const windowTokens = 20_000;

/** Turns of this size: three are kept, and seven are a compaction with the settings of `foldsSoon`. */
const turnTokens = 1_000;

/** With this size the eighth turn does not fit any more. */
export const largeTurn = 2_100;

/** Nothing is reserved but what a short reply needs. */
const reserves = { responseTokens: 1_000, toolTokens: 1_000 };

const small: CompactionSettings = {
  ...defaultCompactionSettings,
  summaryTokensMax: 1_500,
  indexTokensMax: 600,
};

/** Proactive, at half of the window, whatever it costs. */
export const compactionsSoon: Partial<CompactionSettings> = {
  isEnabled: true,
  timing: "at once",
  compactAtShare: 0.5,
};

export const sessionId = "demo";

export async function openWorld(open: OpenLedger, options: WorldOptions = {}): Promise<World> {
  const store = await open();
  const { ledger } = store;
  const { speak = briefly, summary = writesSummaries, protocol = anthropicMessages } = options;
  const simulator = createSimulator({
    seed: 1,
    clock: { virtualStartMs: startMs },
    ...(options.bodyBytesMax === undefined ? {} : { bodyBytesMax: options.bodyBytesMax }),
    model: (prompt) => {
      const last = prompt.turns.at(-1)?.text ?? "";
      return prompt.wants === "summary" || isSummary(last) ? summary(prompt) : speak(prompt);
    },
  });
  const server = await simulator.listen({ port: 0 });
  const provider = connect(server.url, protocol);
  const hasty = connect(server.url, protocol, options.summaryTimeouts);
  const bodies: SentBody[] = [];
  const problems: unknown[] = [];
  const onProblem = (problem: unknown): void => void problems.push(problem);
  const bus = createEventBus({ store: ledger, strictness: "strict", onProblem });
  const told: StrataEvent[] = [];
  bus.subscribe((event) => told.push(event));
  let closing: Promise<void> | null = null;
  const close = (): Promise<void> => (closing ??= closeAll([bus, provider, hasty, server]));
  onTestFinished(async () => {
    await close();
    expect(problems).toEqual([]);
  });
  const dispatcher = createDispatcher({ tools: options.tools ?? [], events: bus });
  const deps: Deps = {
    provider: {
      send: (call) => {
        const text = bodyText(call.request.pieces);
        const wants = isSummary(text) || call.purpose === "compaction" ? "summary" : "reply";
        bodies.push({ wants, text });
        return (wants === "summary" ? hasty : provider).send(call);
      },
    },
    ledger,
    events: bus,
    runTools: async (uses, call) => {
      await world.pass(1000);
      return dispatcher.runAll(uses, call);
    },
    now: () => simulator.clock.now(),
    compaction: {
      reserves,
      sleep: () => Promise.resolve(),
      ...summariserOf(options, hasty),
      ...options.compaction,
      settings: { ...small, ...options.settings, auto: { ...small.auto, ...options.auto } },
    },
  };
  const setup = setupOf(options, dispatcher.offered());
  const world: World = {
    simulator,
    store,
    setup,
    deps,
    session: openSession(setup),
    bodies,
    told,
    say: (text, more) => world.sayTo(deps, text, more),
    sayTo: async (around, text, more = {}) => {
      await world.pass(20_000);
      const event = { content: text, source: "human" };
      const run = await runTurn(world.session, { event, ...more }, around);
      world.session = run.session;
      return run;
    },
    talk: async (count, { from = 1, tokens = turnTokens } = {}) => {
      const runs: TurnResult[] = [];
      for (let number = from; number < from + count; number += 1) {
        runs.push(await world.say(ask(number, tokens), { id: `turn-${number}` }));
      }
      return runs;
    },
    compact: async (focus) => {
      const run = await compactSession(world.session, focus === undefined ? {} : { focus }, deps);
      world.session = run.session;
      return run;
    },
    restart: async () => {
      world.session = await resumeSession(await store.reopen(), sessionId, setup);
      return world.session;
    },
    resumeTurn: async (more = {}) => {
      const run = await resumeTurn(world.session, {}, { ...deps, ...more });
      world.session = run.session;
      return run;
    },
    pass: async (ms) => {
      await simulator.clock.advance(ms);
      store.advance(ms);
    },
    close,
    folds: () => ledger.readCompactions(sessionId),
    payloads: (type) => told.filter(isOf(type)).map(({ payload }) => payload),
    violations: async () => {
      await bus.flush();
      return checkTrace(await all(ledger.readEvents({ sessionId })));
    },
  };
  return world;
}

async function closeAll(opened: readonly { close(): Promise<void> }[]): Promise<void> {
  for (const each of opened) await each.close();
}

/** What stands in every request of ours for a summary. */
function isSummary(text: string): boolean {
  return /Write (?:a|one) summary of the (?:whole )?conversation/.test(text);
}

function isOf<Type extends EventType>(
  type: Type,
): (event: StrataEvent) => event is EventOf<Type> & StrataEvent {
  return (event): event is EventOf<Type> & StrataEvent => event.type === type;
}

function connect(url: string, protocol: Protocol, timeouts: Partial<Timeouts> = {}): Provider {
  const isAnthropic = protocol.name === "anthropic-messages";
  const endpoint = isAnthropic ? anthropicEndpoint : openaiEndpoint;
  return createProvider({
    protocol,
    ...endpoint({ apiKey: plantedKey, baseUrl: isAnthropic ? url : `${url}/v1` }),
    retries: { attemptsMax: 1 },
    timeouts,
  });
}

function summariserOf(
  { summariserTokens, protocol = anthropicMessages }: WorldOptions,
  provider: Provider,
): Pick<Compaction, "summariser"> {
  if (summariserTokens === undefined) return {};
  const name = protocol === anthropicMessages ? "claude-haiku-4-5" : "gpt-5.5";
  const { facts } = resolveModel(name);
  return {
    summariser: {
      model: { ...facts, windowTokens: summariserTokens, inputTokensMax: summariserTokens },
      protocol,
      provider,
      counter: createTokenCounter(cheapCounter, facts.tokenizer),
      options: { outputTokensMax: 2_000, stream: true },
    },
  };
}

function setupOf(options: WorldOptions, tools: NonNullable<SessionSetup["tools"]>): SessionSetup {
  const { facts } = resolveModel(options.model ?? "claude-sonnet-4-6");
  const tokens = options.windowTokens ?? windowTokens;
  return {
    id: sessionId,
    model: { ...facts, windowTokens: tokens, inputTokensMax: tokens },
    protocol: options.protocol ?? anthropicMessages,
    policy: findPolicy("adaptive"),
    context: { role: "unified", workspaceRules: words(1_250, "rules") },
    tools,
    permissions: tools.flatMap(({ needs }) => needs),
    counter: cheapCounter,
    options: { outputTokensMax: 1_000, stream: true },
    ...options.setup,
  };
}

/** What a turn asks: names of its own, then words that fill it. */
export function ask(number: number, tokens: number): string {
  return `Step ${number}: look at src/module-${number}.ts. ${words(tokens - 20, `turn ${number}`)}`;
}
