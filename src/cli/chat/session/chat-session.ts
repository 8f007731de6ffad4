// A conversation with an agent: open it, send messages, steer it, stop it. Emits events for everything that happens.
import type { Ledger } from "../../../core/ledger/ledger.ts";
import type { ModelFacts } from "../../../core/models/model-facts.ts";
import type { TurnEnding } from "../../../engine.ts";
import type { ModelChange } from "../../../engine/session/change-model.ts";
import type { Engine } from "../../../engine/session/create-engine.ts";
import type { EngineSession } from "../../../engine/session/engine-session.ts";
import type { ChatAbout } from "../state/state.ts";
import { createTally, type Tally } from "./totals.ts";
import { createTurnRunner } from "./turn-runner.ts";
import type { ChatEvent } from "../state/update.ts";

export interface ChatSession {
  readonly session: EngineSession;
  readonly isBusy: boolean;
  /** Sends a message, and waits for the turn to end. */
  say(text: string): Promise<TurnEnding>;
  /** Resumes a turn that was left open. */
  goOn(): Promise<TurnEnding>;
  /** Sends a message to the agent while it works. */
  steer(text: string): void;
  /** Stops the running turn, and waits until it has ended. */
  stop(): Promise<void>;
  /** Switches to another session. */
  change(session: EngineSession): Promise<void>;
  /** Switches to another model in the same session. */
  useModel(name: string): Promise<ModelChange>;
  /** Emits the figures again, after something other than a turn changed them. */
  recount(): Promise<void>;
}

export interface ChatSetup {
  readonly engine: Engine;
  readonly ledger: Ledger;
  readonly isSimulated: boolean;
  /** Facts of a model by the id it is recorded with; null for a model that is no longer known. */
  readonly findModel: (id: string) => ModelFacts | null;
  readonly workspace: string | null;
  readonly tell: (event: ChatEvent) => void;
}

export async function openChatSession(
  setup: ChatSetup,
  first: EngineSession,
): Promise<ChatSession> {
  const { tell, ledger, findModel } = setup;
  const tally = createTally({ ledger, findModel }, (totals) => tell({ type: "counted", totals }));
  let session = first;
  await emitOpened(setup, first, tally);
  const runner = createTurnRunner({
    tell,
    tally,
    next: (text) => session.run(text),
    onMoved: () => tell({ type: "moved", about: aboutOf(setup, session) }),
  });
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
      return runner.stop();
    },
    change: async (next) => {
      const before = session;
      session = next;
      await emitOpened(setup, next, tally);
      await before.close();
    },
    useModel: async (name) => {
      const change = await session.useModel(name);
      if (change.model !== change.previousModel) await emitAbout(setup, session, tally);
      return change;
    },
    recount: () => tally.recount(session.session),
  };
}

async function emitOpened(setup: ChatSetup, opened: EngineSession, tally: Tally): Promise<void> {
  await emitAbout(setup, opened, tally);
  for (const text of opened.session.warnings) {
    setup.tell({ type: "noticed", level: "warning", text });
  }
}

async function emitAbout(setup: ChatSetup, opened: EngineSession, tally: Tally): Promise<void> {
  const about = aboutOf(setup, opened);
  setup.tell({ type: "opened", about, totals: await tally.open(opened.session) });
}

function aboutOf({ isSimulated, workspace }: ChatSetup, { session }: EngineSession): ChatAbout {
  const { id: model, windowTokens } = session.model;
  return { sessionId: session.id, model, windowTokens, isSimulated, workspace };
}
