// One turn on one screen: assemble → plan → encode → send → decode → record, until the model is done.
import { assemble } from "./core/assembly/assemble.ts";
import { volatileText } from "./core/assembly/system-blocks.ts";
import { planCache } from "./core/cache/plan-cache.ts";
import { readEvent, type AgentEvent } from "./core/layers/event.ts";
import type { Section } from "./core/layers/section.ts";
import type { CallEntry, Ledger } from "./core/ledger/ledger.ts";
import type { Message, ToolUseBlock } from "./core/message/message.ts";
import type { StreamPart } from "./core/wire/reply.ts";
import type { Provider } from "./edge/providers/provider.ts";
import type { CallToSend } from "./edge/providers/run-attempts.ts";
import { answerTools, type RunTools } from "./engine/answer-tools.ts";
import type { Session } from "./engine/session.ts";
import { settleCall } from "./engine/settle-call.ts";

/** Everything a turn needs of the world. */
export interface Edges {
  readonly provider: Pick<Provider, "send">;
  readonly ledger: Ledger;
  /** Runs the tools a reply asked for: a tool message for each use. What it throws is told to the model. */
  readonly runTools: RunTools;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly signal?: AbortSignal;
  /** Told what streams in, as it comes. */
  readonly onPart?: (part: StreamPart) => void;
}

export interface TurnToRun {
  readonly id: string;
  readonly event: AgentEvent;
  /** More that holds for this turn only, such as what changed in memory. */
  readonly volatile?: readonly Section[];
  /** A turn that asks for tools more often than this ends. */
  readonly callsMax?: number;
}

export interface TurnRun {
  /** Goes on from here. Of a turn that did not end well, the messages are taken back. */
  readonly session: Session;
  readonly calls: readonly CallEntry[];
  /** `cut off`: the reply ended inside or before a tool use that cannot be run. */
  readonly end: "done" | "failed" | "cut off" | "too many calls";
}

/** One turn, from what happened to what it cost. */
export async function runTurn(before: Session, turn: TurnToRun, edges: Edges): Promise<TurnRun> {
  const { protocol, model, options, role } = before;
  const { layout, markers } = before.policy;
  const said = readEvent(turn.event, role, { iso: new Date(edges.now()).toISOString() });
  const volatile = volatileText([...said.volatile, ...(turn.volatile ?? [])]);
  const calls: CallEntry[] = [];
  let session = before;
  let current: readonly Message[] = [said.current];
  while (calls.length < (turn.callsMax ?? 50)) {
    const startMs = edges.now();
    const { thread, cache: state, pace } = session;
    // A provider that paused goes on from its own words: nothing comes after them.
    const tail = current.length === 0 ? null : volatile;
    const assembly = assemble({ thread, current, volatile: tail, layout, can: model.capabilities });
    const { blocks } = assembly;
    const plan = planCache({ blocks, rules: model, markers, state, pace, now: startMs });
    const request = protocol.encode({ assembly, plan, model, options });
    const sent = await edges.provider.send({ request, ...howToSend(options, edges) });
    const made = { turnId: turn.id, number: calls.length + 1, assembly, plan, request };
    const settled = settleCall(session, { ...made, sent, startMs, endMs: edges.now() });
    await edges.ledger.append(settled.entry);
    calls.push(settled.entry);
    session = settled.session;
    if (settled.entry.status !== "complete") return { ...undone(session), calls, end: "failed" };
    const { stopReason } = settled.entry;
    const uses = toolUsesOf(settled.entry);
    if (uses.length > 0 && stopReason !== "tool_use") {
      return { ...undone(session), calls, end: "cut off" };
    }
    if (uses.length === 0 && stopReason !== "pause_turn") return { session, calls, end: "done" };
    current = uses.length === 0 ? [] : await answerTools(uses, edges.runTools);
  }
  return { ...undone(session), calls, end: "too many calls" };

  /** What was learned stays; a tool use without an answer must not. */
  function undone(learned: Session): Pick<TurnRun, "session"> {
    return { session: { ...learned, thread: before.thread } };
  }
}

function toolUsesOf({ reply }: CallEntry): readonly ToolUseBlock[] {
  return reply?.content.filter((block) => block.type === "tool_use") ?? [];
}

function howToSend(
  { stream }: Session["options"],
  { signal, onPart }: Edges,
): Omit<CallToSend, "request"> {
  return {
    stream,
    ...(signal === undefined ? {} : { signal }),
    ...(onPart === undefined ? {} : { onPart }),
  };
}
