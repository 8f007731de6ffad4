// A session that is open in this process: runs turns, one at a time, and knows how it stands.
import { randomUUID } from "node:crypto";
import type { AgentEvent } from "../core/layers/event.ts";
import type { Section } from "../core/layers/section.ts";
import { StrataError } from "../core/strata-error.ts";
import { resumeTurn, runTurn, type TurnEnding, type TurnRun } from "../engine.ts";
import { compactSession, planCompaction, type CompactionPlan } from "./compact-session.ts";
import type { EngineContext, Reached } from "./create-engine.ts";
import type { FoldRun } from "./fold-session.ts";
import { createOwnLoop, type ChangeEdges, type OwnLoop, type StartTurn } from "./own-loop.ts";
import type { Session } from "../core/session/session.ts";
import { changeModel, type ModelChange } from "./change-model.ts";
import { routeTurn, toRoutePart, type Seated } from "./route-turn.ts";
import { toEdges, type OpenState } from "./session-edges.ts";
import { tellEnded } from "./tell-ended.ts";
import { createTurnHandle, type HandleParts, type TurnHandle } from "./turn-handle.ts";
import { createWork } from "./work.ts";
import type { World } from "./world.ts";

export interface EngineSession extends OwnLoop {
  readonly id: string;
  /** How it stands: a value, replaced by every turn. */
  readonly session: Session;
  /** Handles an event, or what a person says. A session runs one turn at a time. */
  run(event: AgentEvent | string, options?: RunOptions): TurnHandle;
  /** Goes on with a turn that a process left open. */
  resume(options?: RunOptions): TurnHandle;
  /** Shortens its history now. */
  compact(options?: CompactOptions): Promise<FoldRun>;
  /** Goes on with another model from the next turn on, and says what that does to the cache. */
  useModel(name: string): Promise<ModelChange>;
  /** What `compact` would do. */
  planCompaction(): Promise<CompactionPlan>;
  /** Ends what runs, as soon as can be. A session that is closed does nothing more. */
  close(): Promise<void>;
}

export interface CompactOptions {
  /** What the summary should dwell on. */
  readonly focus?: string;
  readonly signal?: AbortSignal;
}

export interface RunOptions {
  /** Of the turn; made by default. */
  readonly id?: string;
  /** For this turn only, whatever the session stays with. Where it cannot take it, another one does, which is told. */
  readonly model?: string;
  readonly signal?: AbortSignal;
}

export interface OpenedSession {
  readonly session: Session;
  readonly world: World;
  readonly reached: Reached;
  /** Told once it is closed. */
  readonly onClosed?: () => void;
}

export function createEngineSession(
  context: EngineContext,
  { session: opened, world, reached, onClosed }: OpenedSession,
): EngineSession {
  const open: OpenState = { session: opened, reached, world, calling: opened, lastEnd: "done" };
  const work = createWork(opened.id);
  let closing: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    const how = await work.end();
    onClosed?.();
    const disposition = how === "aborted" ? "abandoned" : dispositionOf(open.lastEnd);
    await tellEnded(context.edges, open.session, disposition);
    await world.close?.();
  };
  const start: StartTurn = (said, options, change) => {
    work.requireIdle();
    const id = said === null ? null : (options.id ?? randomUUID());
    const parts = createTurnHandle(id, options.signal);
    const run = (): Promise<TurnRun> => runOne(context, open, parts, { said, options, change });
    parts.settle(work.begin(run, (reason) => parts.handle.abort(reason)));
    return parts.handle;
  };
  return {
    id: opened.id,
    get session() {
      return open.session;
    },
    run: (said, options = {}) => start(checkSaid(said), options, asTheyAre),
    resume: (options = {}) => start(null, options, asTheyAre),
    ...createOwnLoop({ sessionId: opened.id, start }),
    compact: ({ signal, ...options } = {}) =>
      work.runAlone(async (within) => {
        const edges = await toEdges(context, open, { signal: within });
        const run = await compactSession(open.session, options, edges);
        open.session = run.session;
        return run;
      }, signal),
    useModel: (name) =>
      work.runAlone(async () => {
        const { told, ...changed } = await changeModel(context, open, world, name);
        Object.assign(open, changed);
        return told;
      }),
    planCompaction: async () => planCompaction(open.session, await toEdges(context, open)),
    close: () => (closing ??= close()),
  };
}

interface BegunTurn {
  /** Null for a turn that is gone on with. */
  readonly said: AgentEvent | string | null;
  readonly options: RunOptions;
  readonly change: ChangeEdges;
}

async function runOne(
  context: EngineContext,
  open: OpenState,
  parts: HandleParts,
  { said, options, change }: BegunTurn,
): Promise<TurnRun> {
  const { world } = open;
  const volatile = async (): Promise<readonly Section[]> => world.volatile?.(open.calling) ?? [];
  const more = { volatile, ...(await limitsOf(context)) };
  const go = async (): Promise<TurnRun> => {
    if (said === null) {
      const record = await context.edges.ledger.findSession(open.session.id);
      parts.identify(record?.openTurnId ?? "");
      return resumeTurn(open.session, more, change(await toEdges(context, open, { parts })));
    }
    const wish = { event: toEvent(said), model: options.model ?? null };
    const { route, ...routed } = await routeTurn(context, open, world, wish);
    const before = { session: open.session, reached: open.reached };
    Object.assign(open, routed);
    parts.tell(toRoutePart(open.session, route));
    const turn = { id: parts.handle.turnId, event: wish.event, route, ...more };
    try {
      return await runTurn(open.session, turn, change(await toEdges(context, open, { parts })));
    } catch (error) {
      // A turn that could not be opened moves nobody: another one may wait to be gone on with.
      const record = await context.edges.ledger.findSession(open.session.id).catch(() => null);
      if (record?.openTurnId !== turn.id) Object.assign(open, withRecord(before, open.session));
      throw error;
    }
  };
  const run = await go();
  open.session = run.session;
  open.lastEnd = run.end;
  return { ...run, unsaid: parts.takeSteered() };
}

function withRecord(before: Seated, { isRecorded, headTurnId, openedMs }: Session): Seated {
  return { ...before, session: { ...before.session, isRecorded, headTurnId, openedMs } };
}

function dispositionOf(last: TurnEnding): "completed" | "error" {
  return last === "done" || last === "cancelled" ? "completed" : "error";
}

const asTheyAre: ChangeEdges = (edges) => edges;

function toEvent(said: AgentEvent | string): AgentEvent {
  return typeof said === "string" ? { content: said, source: "human" } : said;
}

/** Whatever an application without types gives. */
function checkSaid(said: AgentEvent | string): AgentEvent | string {
  const given: unknown = said;
  if (typeof given === "string") return said;
  if (typeof given === "object" && given !== null && "content" in given) return said;
  throw new StrataError(
    "input-invalid",
    "a turn begins with what somebody says, or with an event",
    'give text, or { content: "…", source: "human" }',
  );
}

async function limitsOf({ readConfig }: EngineContext): Promise<{ readonly callsMax?: number }> {
  const { callsMax } = await readConfig();
  if (callsMax === undefined) return {};
  if (Number.isSafeInteger(callsMax) && callsMax >= 1) return { callsMax };
  throw new StrataError(
    "input-invalid",
    `callsMax is ${String(callsMax)}, and a turn needs at least one call`,
    "give a whole number from 1, or leave it out",
  );
}
