/// <reference lib="esnext.disposable" preserve="true" />
// The engine that an application embeds. It opens, resumes and forks sessions; each runs one turn at a time.
import { randomUUID } from "node:crypto";
import { StrataError, toStrataError } from "../../core/strata-error.ts";
import type { LearnedSizes } from "../../core/tokens/learned-sizes.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import type { Message } from "../../core/message/message.ts";
import { checkConfig, checkFork, checkMessages, checkName, checkOptions } from "./check-input.ts";
import { createEngineSession, type EngineSession } from "./engine-session.ts";
import {
  optionsOf,
  policyOf,
  type EngineConfig,
  findNamed,
  findRecorded,
  spell,
} from "./engine-config.ts";
import type { OpenedSession, Unfinished } from "./live-session.ts";
import { loadSession, openSession, readLessons } from "./open-session.ts";
import type { SessionOrigin } from "../../core/session/session.ts";
import type { EngineContext, EngineDeps } from "./engine-deps.ts";
import { findModelSetup } from "./recorded-setup.ts";
import { usualRole } from "../../core/session/session-role.ts";
import { continueEvents, emitResumed } from "../events/session-events.ts";
import { emptyWorld, foundationOf, type World, type WorldOwner } from "../world/world.ts";

export interface Engine {
  /**
   * The session of that name, new or as the ledger has it. Nothing is written: a new one is recorded with its first run.
   * That run first takes care of a turn that a process left open.
   */
  session(id: string, options?: SessionOptions): Promise<EngineSession>;
  open(options?: OpenOptions): Promise<EngineSession>;
  /** Opens a session from the ledger, from this or another process. */
  resume(id: string): Promise<EngineSession>;
  /** Opens a new session that continues from another session's head or from one of its turns. */
  fork(from: ForkFrom): Promise<EngineSession>;
  /** Closes its sessions. The caller owns the ledger and the providers, and closes them. */
  close(): Promise<void>;
  /** The same, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

export interface SessionOptions {
  /** The model of a new session. */
  readonly model?: string;
  /** What the application finds a new session by, such as `slack:channel:thread`; `ledger.listSessions({ routingKey })`. */
  readonly routingKey?: string;
  /** `finish` by default. */
  readonly unfinished?: Unfinished;
}

export interface OpenOptions {
  readonly id?: string;
  readonly model?: string;
  readonly routingKey?: string;
  /** A conversation to continue. */
  readonly messages?: readonly Message[];
  /** The parent and task of a sub-agent. */
  readonly origin?: SessionOrigin;
}

export interface ForkFrom {
  readonly sessionId: string;
  readonly turnId?: string;
  /** Id of the new session; random by default. */
  readonly id?: string;
}

/** A configuration given as a function is read before every call. */
export function createEngine(
  config: EngineConfig | (() => Promise<EngineConfig>),
  deps: EngineDeps,
): Engine {
  const given = typeof config === "function" ? config : checkConfig(config);
  const readConfig = async (): Promise<EngineConfig> =>
    typeof given === "function" ? checkConfig(await given()) : given;
  const context = { deps, readConfig, sizes: new Map<string, LearnedSizes>() };
  const { keep, requireOpen, close } = createOpenSessions(context);
  return {
    session: async (id, options = {}) => {
      requireOpen();
      checkName(id, "the name of a session");
      checkOptions(options, ["model", "unfinished", "routingKey"]);
      const { unfinished = "finish", ...ofNew } = options;
      const isNew = (await deps.ledger.findSession(id)) === null;
      const opening = isNew ? openNew(context, { id, ...ofNew }) : resumeAgain(context, id);
      return keep(opening, unfinished);
    },
    open: async (options = {}) => {
      requireOpen();
      checkOptions(options, ["id", "model", "routingKey"]);
      return keep(openNew(context, options));
    },
    resume: async (id) => {
      requireOpen();
      checkName(id, "the name of a session");
      return keep(resumeAgain(context, id));
    },
    fork: async (from) => {
      requireOpen();
      const { sessionId, turnId, id = randomUUID() } = checkFork(from);
      if (turnId !== undefined) await checkOnThread(deps.ledger, sessionId, turnId);
      await checkReach(deps, sessionId);
      const place = turnId === undefined ? { sessionId } : { turnId };
      await deps.ledger.forkSession({ id, from: place, like: sessionId });
      return keep(resumeOld(context, id));
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

interface OpenSessions {
  /** Makes a session of what was opened, and closes it with the engine. */
  readonly keep: (
    opening: Promise<OpenedSession>,
    unfinished?: Unfinished,
  ) => Promise<EngineSession>;
  readonly requireOpen: () => void;
  readonly close: () => Promise<void>;
}

function createOpenSessions(context: EngineContext): OpenSessions {
  const open = new Set<EngineSession>();
  const noticed = new Set<string>();
  let isClosed = false;
  return {
    keep: async (opening, unfinished) => {
      const opened = await opening.catch((error: unknown) => {
        throw toStrataError(error, "opening the session");
      });
      for (const warning of opened.session.warnings) {
        if (!noticed.has(warning)) context.deps.onNotice?.(warning);
        noticed.add(warning);
      }
      const session: EngineSession = createEngineSession(
        context,
        { ...opened, ...(unfinished && { unfinished }) },
        () => void open.delete(session),
      );
      open.add(session);
      if (isClosed) await session.close();
      return session;
    },
    requireOpen: () => {
      if (isClosed) throw closed();
    },
    close: async () => {
      isClosed = true;
      const ended = await Promise.allSettled([...open].map((session) => session.close()));
      const failed = ended.find((each) => each.status === "rejected");
      if (failed !== undefined) throw failed.reason;
    },
  };
}

function closed(): StrataError {
  return new StrataError("conflict", "the engine is closed", "create another one");
}

/** Refuses a fork that could not be opened. */
async function checkReach(deps: EngineDeps, sessionId: string): Promise<void> {
  const record = await deps.ledger.findSession(sessionId);
  const recorded = record === null ? null : await findModelSetup(deps.ledger, record);
  if (recorded === null) return;
  const { model, setup } = recorded;
  await deps.reach(findRecorded({ model, name: setup?.calls.name }, deps));
}

async function checkOnThread(ledger: Ledger, sessionId: string, turnId: string): Promise<void> {
  for await (const { id } of ledger.readTurns({ sessionId })) if (id === turnId) return;
  throw new StrataError(
    "input-invalid",
    `turn ${turnId} is not on the way to the head of session ${sessionId}`,
    "fork the session that it belongs to",
  );
}

async function openNew(context: EngineContext, options: OpenOptions): Promise<OpenedSession> {
  const { deps } = context;
  const config = await context.readConfig();
  const modelName = spell(options.model ?? config.model, deps);
  const model = findNamed(modelName, deps);
  const { agent = "agent", role: asked, workspacePath } = config;
  const role = asked ?? usualRole;
  const { id = randomUUID(), messages, origin, routingKey } = options;
  if (messages !== undefined) checkMessages(messages);
  const reached = await deps.reach(model);
  const policy = policyOf(config);
  const owner = { sessionId: id, agent, role, layout: policy.layout };
  const lessons = await readLessons(deps.ledger, {
    agent,
    role,
    model: model.id,
    provider: model.provider,
    areSubAgents: origin !== undefined,
  });
  return inWorld(deps, owner, async (world) => {
    const session = openSession({
      ...(await foundationOf(world, asked)),
      id,
      agent,
      model,
      modelName,
      protocol: reached.protocol,
      policy,
      counter: deps.counter,
      options: optionsOf(config, model),
      ...lessons,
      ...(config.pace === undefined ? {} : { pace: config.pace }),
      ...(workspacePath === undefined ? {} : { workspacePath }),
      ...(messages === undefined ? {} : { messages }),
      ...(origin === undefined ? {} : { origin }),
      ...(routingKey === undefined ? {} : { routingKey }),
      ...(options.model === undefined
        ? {}
        : {
            staysWith: { model: modelName, chosenBy: origin === undefined ? "person" : "delegate" },
          }),
    });
    return { session, world, reached };
  });
}

/** Its events come after its stored ones and begin with session.resumed. */
async function resumeAgain(context: EngineContext, id: string): Promise<OpenedSession> {
  const last = await continueEvents(context.deps, id);
  const opened = await resumeOld(context, id);
  emitResumed(context.deps.events, opened.session, last);
  return opened;
}

async function resumeOld(context: EngineContext, id: string): Promise<OpenedSession> {
  const loaded = await loadSession(context, id);
  const { session } = loaded;
  const { agent, role } = session;
  const owner = { sessionId: id, agent, role, session };
  return inWorld(context.deps, owner, (world) => Promise.resolve({ ...loaded, world }));
}

/** Closes the world with its session, or at once if the session fails to open. */
async function inWorld(
  { world: make }: EngineDeps,
  owner: WorldOwner,
  open: (world: World) => Promise<OpenedSession>,
): Promise<OpenedSession> {
  const world = make === undefined ? emptyWorld : await make(owner);
  try {
    const opened = await open(world);
    world.skills?.preactivate(opened.session.preactivated);
    return opened;
  } catch (error) {
    await world.close?.();
    throw error;
  }
}
