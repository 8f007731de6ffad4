// Runs one sub-agent, from its tool use to its report.
import { randomUUID } from "node:crypto";
import { ToolError, type ToolCallContext, type ToolOutput } from "../../core/tools/tool.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { DelegatedTask, SubAgentKind } from "../../edge/tools/delegate-tool.ts";
import type { Sibling } from "./fan-out.ts";
import { openFork, openWorker } from "./open-agent.ts";
import type { SubAgentMark, Delegation, DelegationOptions } from "./delegation.ts";
import { toReport, type ReportPage } from "./report.ts";
import type { TurnHandle } from "../turn/turn-handle.ts";
import type { Provider } from "../../edge/providers/provider.ts";
import type { EngineDeps } from "../session/engine-deps.ts";
import type { Emitter } from "../events/turn-emitter.ts";

/** The agent that asks, with its own limits. */
export interface Asking {
  readonly mark: SubAgentMark | null;
  readonly page: ReportPage;
  readonly options: DelegationOptions;
}

/** Opens the sub-agent, waits until it may send, and returns its report. Failures are a `ToolError`. */
export async function delegate(
  task: DelegatedTask,
  call: ToolCallContext,
  { mark: own, page, options }: Asking,
  delegation: Delegation,
): Promise<ToolOutput> {
  const { sessionId, turnId, toolUseId, signal } = call;
  const { kind } = task;
  const parent = await delegation.deps.ledger.findSession(sessionId);
  if (parent === null) throw new ToolError("not_found", `there is no session ${sessionId}`);
  const from = { sessionId, turnId, toolUseId };
  const mark: SubAgentMark = {
    kind,
    toolsets: [...(own?.toolsets ?? []), ...(task.toolset === null ? [] : [task.toolset])],
    depth: (own?.depth ?? 0) + 1,
  };
  const origin = { parent: from, task: task.task };
  const asked = { id: randomUUID(), parent, from, origin, mark, task, options };
  let sibling: Sibling | null = null;
  const links = { eventId: call.eventId ?? null, onBegin: () => sibling?.begun() };
  const deps = toSubAgentDeps(delegation.deps, links);
  const open = kind === "worker" ? openWorker : openFork;
  const ready = await open(asked, { ...delegation, deps }).catch((error: unknown) => {
    throw error instanceof StrataError ? notStarted(kind, error) : error;
  });
  const { agent } = ready;
  try {
    sibling = ready.prefix === null ? null : await delegation.fanOut.enter(ready.prefix, signal);
    const handle = agent.run({ content: ready.text, source: "agent" }, { signal });
    void watchBegun(handle, sibling);
    const { depth } = mark;
    options.onStarted?.({
      sessionId: agent.id,
      parent: from,
      kind,
      task: task.task,
      depth,
      handle,
    });
    const run = await handle.result;
    if (run.calls.some(({ reply }) => reply !== null)) sibling?.begun();
    return toReport({ sessionId: agent.id, kind, run }, page);
  } finally {
    sibling?.ended();
    await agent.close();
  }
}

/** The error if a sub-agent cannot start, such as an unknown or unreachable model. A person must fix it. */
function notStarted(kind: SubAgentKind, cause: StrataError): ToolError {
  const message = `The ${kind} could not be started: ${cause.message}. Do its task yourself.`;
  return new ToolError("execution_error", message, { cause, isUserVisible: true });
}

/** For providers that do not report the start of an answer: the first part of a stream is the start. */
async function watchBegun(handle: TurnHandle, sibling: Sibling | null): Promise<void> {
  for await (const part of handle) {
    const isReply = part.type === "text" || part.type === "thinking" || part.type === "tool";
    if (!isReply && !(part.type === "phase" && part.phase === "running tools")) continue;
    sibling?.begun();
    return;
  }
}

export interface SubAgentLinks {
  /** The event of the tool use that started it; null if none was emitted. */
  readonly eventId: string | null;
  /** Called when the answer to one of its calls begins. */
  readonly onBegin: () => void;
}

export function toSubAgentDeps(deps: EngineDeps, { eventId, onBegin }: SubAgentLinks): EngineDeps {
  const { events } = deps;
  return {
    ...deps,
    reach: async (model) => {
      const reached = await deps.reach(model);
      return { ...reached, provider: watchBegin(reached.provider, onBegin) };
    },
    ...(events === undefined || eventId === null ? {} : { events: followingFrom(events, eventId) }),
  };
}

function watchBegin(provider: Pick<Provider, "send">, onBegin: () => void): typeof provider {
  return {
    send: (call) =>
      provider.send({
        ...call,
        onBegin: () => {
          onBegin();
          call.onBegin?.();
        },
      }),
  };
}

/** Links the traces: a sub-agent's first event has the parent's tool use as its parent event. */
function followingFrom(bus: Emitter, eventId: string): Emitter {
  return {
    emit: (draft) =>
      bus.emit(draft.type === "session.created" ? { ...draft, parentEventId: eventId } : draft),
    prepare: (draft) => bus.prepare(draft),
    deliver: (event) => bus.deliver(event),
  };
}
