// A conversation with an agent: opened, said something to, steered, stopped. Tells what happens as events.
import { messagesFrom } from "../../core/assembly/thread.ts";
import type { CallEntry } from "../../core/ledger/call-entry.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { TurnEnding, TurnRun } from "../../engine.ts";
import type { Engine } from "../../engine/create-engine.ts";
import type { EngineSession } from "../../engine/engine-session.ts";
import type { TurnHandle } from "../../engine/turn-handle.ts";
import { describeEnding } from "./ending-words.ts";
import type { ChatAbout } from "./state.ts";
import { createTally, type Tally } from "./totals.ts";
import type { ChatEvent } from "./update.ts";

export interface ChatSession {
  readonly session: EngineSession;
  readonly isBusy: boolean;
  /** Says something, and waits for what comes of it. */
  say(text: string): Promise<TurnEnding>;
  /** Goes on with a turn that somebody left open. */
  goOn(): Promise<TurnEnding>;
  /** Says something to the agent while it works. */
  steer(text: string): void;
  /** Ends the turn that runs. */
  stop(): void;
  /** Goes on in another session. */
  change(session: EngineSession): Promise<void>;
  /** Tells the figures again, after something other than a turn changed them. */
  recount(): Promise<void>;
}

export interface ChatSetup {
  readonly engine: Engine;
  readonly ledger: Ledger;
  readonly isSimulated: (model: ModelFacts) => boolean;
  readonly modelNamed: (name: string) => string;
  readonly workspace: string | null;
  readonly tell: (event: ChatEvent) => void;
}

export async function openChatSession(
  setup: ChatSetup,
  first: EngineSession,
): Promise<ChatSession> {
  const { tell } = setup;
  const tally = createTally(setup.ledger, (totals) => tell({ type: "counted", totals }));
  let session = first;
  await tellOpened(setup, first, tally);
  const runner = createRunner(setup, tally, (text) => session.run(text));
  return {
    get session() {
      return session;
    },
    get isBusy() {
      return runner.isBusy();
    },
    say: (text) => {
      tell({ type: "said", text });
      return runner.run(() => session.run(text));
    },
    goOn: () => runner.run(() => session.resume()),
    steer: (text) => {
      tell({ type: "said", text });
      runner.steer(text);
    },
    stop: () => {
      tell({ type: "stopping" });
      runner.stop();
    },
    change: async (next) => {
      const before = session;
      session = next;
      await tellOpened(setup, next, tally);
      await before.close();
    },
    recount: () => tally.recount(session.session),
  };
}

interface Runner {
  run(begin: () => TurnHandle): Promise<TurnEnding>;
  steer(text: string): void;
  stop(): void;
  isBusy(): boolean;
}

/** What was said too late for a turn is what the next one begins with. */
function createRunner(
  { tell }: ChatSetup,
  tally: Tally,
  next: (text: string) => TurnHandle,
): Runner {
  let running: TurnHandle | null = null;
  let isBusy = false;
  let steered: string[] = [];
  const runAll = async (begin: () => TurnHandle): Promise<TurnEnding> => {
    for (running = begin(); ;) {
      const { end, calls } = await watchTurn(running, tell, tally);
      const left = unheard(steered, calls);
      steered = [];
      if (left.length === 0) return end;
      if (end !== "done") {
        const text = `The agent was not told: ${left.join(" / ")}`;
        tell({ type: "noticed", level: "warning", text });
        return end;
      }
      running = next(left.join("\n"));
    }
  };
  return {
    run: async (begin) => {
      isBusy = true;
      try {
        return await runAll(begin);
      } catch (error) {
        tell({ type: "noticed", level: "error", text: toText(error) });
        return "failed";
      } finally {
        steered = [];
        running = null;
        isBusy = false;
      }
    },
    steer: (text) => {
      steered.push(text);
      running?.steer(text);
    },
    stop: () => running?.abort("stopped by the person"),
    isBusy: () => isBusy,
  };
}

/** Tells what comes of a turn until it is over. Throws what it failed with. */
async function watchTurn(
  handle: TurnHandle,
  tell: ChatSetup["tell"],
  tally: Tally,
): Promise<TurnRun> {
  const startMs = performance.now();
  const clock = setInterval(() => {
    tell({ type: "tick", seconds: Math.floor((performance.now() - startMs) / 1000) });
  }, 1000);
  try {
    for await (const part of handle) {
      if (part.type === "stream_end") await tally.turnEnded(part.run);
      const isCalled = part.type === "phase" && part.phase === "running tools";
      if (isCalled) await tally.callEnded(handle.turnId);
      tell({ type: "part", part });
    }
    const run = await handle.result;
    const ending = describeEnding(run);
    if (ending !== null) tell({ type: "noticed", ...ending });
    return run;
  } finally {
    clearInterval(clock);
  }
}

/** The same conversation with another model: a session of its own, since other models read other bytes. */
export async function switchModel(
  { engine, modelNamed }: Pick<ChatSetup, "engine" | "modelNamed">,
  { session }: EngineSession,
  name: string,
): Promise<EngineSession> {
  const messages = messagesFrom(session.thread, 0);
  const model = modelNamed(name);
  return engine.open({ model, ...(messages.length === 0 ? {} : { messages }) });
}

async function tellOpened(
  { isSimulated, workspace, tell }: ChatSetup,
  { session }: EngineSession,
  tally: Tally,
): Promise<void> {
  const { id: model, windowTokens } = session.model;
  const about: ChatAbout = {
    sessionId: session.id,
    model,
    windowTokens,
    isSimulated: isSimulated(session.model),
    workspace,
  };
  tell({ type: "opened", about, totals: await tally.open(session) });
  for (const text of session.warnings) tell({ type: "noticed", level: "warning", text });
}

/** Of what was said meanwhile, what no call sent. */
function unheard(steered: readonly string[], calls: readonly CallEntry[]): readonly string[] {
  const sent = calls.flatMap((call) =>
    call.sent.flatMap(({ role, content }) =>
      role === "user" ? content.map((block) => (block.type === "text" ? block.text : "")) : [],
    ),
  );
  return steered.filter((text) => !sent.includes(text));
}

export function toText(error: unknown): string {
  if (error instanceof StrataError) return `${error.message}\n  ${error.hint}`;
  return error instanceof Error ? error.message : String(error);
}
