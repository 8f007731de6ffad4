// A worker: its own toolset and rules, the same for all its siblings. Its task is its first message.
import { workerTask } from "../../core/layers/roles.ts";
import { createEngine } from "../session/create-engine.ts";
import {
  findCallSettings,
  listenerOf,
  readShown,
  type Listener,
} from "../session/recorded-setup.ts";
import { type Session, firstPlace } from "../../core/session/session.ts";
import { type AskedAgent, type ReadyAgent, type Delegation, toMarkNote } from "./delegation.ts";
import { appendMessages, openThread } from "../../core/assembly/thread.ts";
import { isLive } from "../../core/cache/cache-state.ts";
import { noWarmBooks } from "../../core/cache/warm-books.ts";
import { openPace } from "../../core/cache/pace.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import type { SessionParent } from "../../core/ledger/session-record.ts";
import type { Message } from "../../core/message/message.ts";
import { ToolError } from "../../core/tools/tool.ts";
import type { World } from "../world/world.ts";
import { findRecorded, optionsOf, policyOf } from "../session/engine-config.ts";
import { createEngineSession } from "../session/engine-session.ts";
import { nothingSpent } from "../../core/session/summary-bill.ts";
import { resumeSession } from "../session/stored-session.ts";

export async function openWorker(asked: AskedAgent, delegation: Delegation): Promise<ReadyAgent> {
  const { id, parent, mark, origin, task, options } = asked;
  const { deps, readConfig, makeWorld } = delegation;
  let environment: string | null = null;
  let inWorld: World | null = null;
  const engine = createEngine(
    async () => ({ ...(await readConfig()), role: "worker", pace: "worker" }),
    {
      ...deps,
      world: async (owner) => {
        const world = await makeWorld(owner, mark);
        inWorld = world;
        const context: typeof world.context = async () => {
          const made = await world.context();
          environment = made.parts.environment ?? null;
          return made;
        };
        return { ...world, context };
      },
    },
  );
  const calls = await findCallSettings(deps.ledger, parent);
  const model = options.model ?? calls?.name ?? parent.model;
  const agent = await engine.open({ id, model, origin });
  try {
    const scoped = task.scope === null ? null : await scopeOf(task.scope, asked, inWorld);
    const text = workerTask(task.task, scoped === null ? environment : scoped.text);
    return { agent, text, prefix: staticPrefix(agent.session) };
  } catch (error) {
    await agent.close();
    throw error;
  }
}

/** The part of the environment that the task names. What it names must be there. */
async function scopeOf(
  scope: readonly string[],
  { options, parent }: AskedAgent,
  world: World | null,
): Promise<{ readonly text: string | null }> {
  const { environmentFor } = options;
  if (environmentFor !== undefined) return { text: await environmentFor(scope, parent.id) };
  const scoped = (await world?.environmentFor?.(scope)) ?? null;
  if (scoped === null) {
    throw new ToolError(
      "validation_error",
      "there is no environment to choose from; leave out `scope`",
    );
  }
  const { text, unknown, known } = scoped;
  if (unknown.length === 0) return { text };
  throw new ToolError(
    "validation_error",
    `\`scope\` names ${unknown.join(", ")}, which is no capability here; there are ${known.join(", ")}`,
  );
}

/** T0 and T1: the prefix that siblings of one toolset share. It does not depend on memory. */
function staticPrefix({ thread: { foundation }, model }: Session): string {
  const last = foundation.blocks.findLast(({ tier }) => tier === "T0" || tier === "T1");
  return `${model.provider}/${model.id}/${last?.key ?? foundation.key}`;
}

export async function openFork(asked: AskedAgent, delegation: Delegation): Promise<ReadyAgent> {
  const { id, mark, origin, task } = asked;
  const { deps, readConfig, makeWorld } = delegation;
  const calls = await findCallSettings(deps.ledger, asked.parent);
  const named = { model: calls?.model ?? asked.parent.model, name: calls?.name };
  const model = findRecorded(named, deps);
  const reached = await deps.reach(model);
  const config = await readConfig();
  const policy = policyOf(config);
  const parent = await resumeSession(deps.ledger, asked.parent.id, {
    model,
    protocol: reached.protocol,
    // It needs its origin's bytes: another layout would change the prefix.
    policy: { ...policy, layout: calls?.layout ?? policy.layout },
    counter: deps.counter,
    options: calls?.options ?? optionsOf(config, model),
  });
  const sent = await readSent(deps.ledger, asked.from, listenerOf(parent));
  const { agent, role, thread } = parent;
  const session: Session = {
    ...parent,
    id,
    origin,
    headTurnId: null,
    isRecorded: false,
    setupPlace: firstPlace,
    otherModels: [],
    // Another model could not read the cache that its origin wrote.
    staysWith: { model: parent.modelName, chosenBy: "person" },
    openedMs: null,
    thread: appendMessages(openThread(thread.foundation), sent),
    pace: openPace("worker"),
    // The origin books its own costs; the fork must not book them again.
    spent: nothingSpent,
    warm: noWarmBooks,
    madeOf: [...parent.madeOf, toMarkNote(mark)],
  };
  const world = await makeWorld({ sessionId: id, agent, role, session }, mark);
  world.skills?.preactivate(session.preactivated);
  const nowMs = (deps.now ?? Date.now)();
  return {
    agent: createEngineSession({ deps, readConfig }, { session, world, reached }),
    text: forkTask(task.task),
    prefix: isWritten(session, nowMs)
      ? null
      : `${model.provider}/${model.id}/${session.thread.end.key}`,
  };
}

/**
 * The messages of the origin's last call, without the reply that asks for the fork: a tool use must be answered, and its
 * answer is the fork's result. The last call wrote everything up to that reply, so no cache read is
 * lost.
 */
async function readSent(
  ledger: Ledger,
  { sessionId, turnId, toolUseId }: SessionParent,
  listener: Listener,
): Promise<readonly Message[]> {
  const of = turnId === undefined ? { sessionId } : { turnId };
  const shown = await readShown(ledger, of, listener);
  const messages = shown.messages.map(({ message }) => message);
  if (toolUseId === undefined) return messages;
  const asking = messages.findLastIndex(({ content }) =>
    content.some((block) => block.type === "tool_use" && block.id === toolUseId),
  );
  return asking === -1 ? messages : messages.slice(0, asking);
}

/** Whether the origin's prefix is still cached: then forks need not wait for each other. */
function isWritten({ cache, thread }: Session, nowMs: number): boolean {
  return cache.entries.some((entry) => entry.key === thread.end.key && isLive(entry, nowMs));
}

function forkTask(task: string): string {
  return `${forkRules}\n\n## Your task\n\n${task.trim()}`;
}

const forkRules = `## You are a fork

From here on you are a copy of the agent of this conversation, made for the one task below. The agent itself goes on without you and is shown nothing but your last message.

- Do the task and nothing else, then report: what was done, what was found, what is open.
- You speak with nobody but the agent. What was asked before is its business, not yours.
- Some of the tools are refused to you. Where one would be needed, say so in your report.`;
