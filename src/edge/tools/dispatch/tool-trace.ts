// Events of a running tool, each with its parent: the dispatcher's own, and those that tools emit themselves.
import { extendChain, parentIn, type Chain } from "../../../core/events/chain.ts";
import type { EventType } from "../../../core/events/event-catalogue.ts";
import type { PayloadOf } from "../../../core/events/event.ts";
import type { ToolCallContext } from "../../../core/tools/tool.ts";
import type { EventBus } from "../../events/event-bus.ts";

/** The chain of a running turn, shared by everything that emits events for it. */
export interface SharedChain {
  current: Chain | null;
}

export interface ToolTrace {
  /** The event's id. Null if there is no listener or the event was refused. */
  emit(toolUseId: string, draft: DraftAmong<Extract<EventType, `tool.${string}`>>): string | null;
}

type DraftAmong<Types extends EventType> = {
  readonly [Type in Types]: { readonly type: Type; readonly payload: PayloadOf<Type> };
}[Types];

export interface TraceOptions {
  readonly emitter: Pick<EventBus, "emit"> | undefined;
  readonly sessionId: string;
  readonly turnId: string;
  readonly chain: SharedChain | undefined;
  /** Called when an event was refused. The tool still runs. Never throws. */
  readonly onProblem: (problem: unknown) => void;
}

export function createToolTrace(options: TraceOptions): ToolTrace {
  const { emitter, sessionId, turnId, chain, onProblem } = options;
  /** The last event of each tool use, for turns without a known chain. */
  const latest = new Map<string, string>();
  return {
    emit: (toolUseId, draft) => {
      if (emitter === undefined) return null;
      const known = chain?.current ?? null;
      const parentEventId =
        known === null ? (latest.get(toolUseId) ?? null) : parentIn(known, draft.type, toolUseId);
      try {
        const event = emitter.emit({ ...draft, sessionId, turnId, parentEventId });
        latest.set(toolUseId, event.id);
        if (chain !== undefined && known !== null) chain.current = extendChain(known, event);
        return event.id;
      } catch (error) {
        onProblem(error);
        return null;
      }
    },
  };
}

/** What a tool emits itself. `followsFrom`: the parent, if the tool knows it better than the chain does. */
export type CallDraft = DraftAmong<
  "memory.updated" | "memory.eviction" | "skill.search" | "skill.loaded" | "skill.modified"
> & { readonly followsFrom?: string | null };

/** Adds session, turn and parent. Returns the event's id, if it is known. Throws what the bus throws. */
export type EmitInCall = (draft: CallDraft, call: ToolCallContext) => string | null;

/** For `memoryTools` and `skillTools`. */
export function createCallEmitter(bus: Pick<EventBus, "emit">, chain: SharedChain): EmitInCall {
  return ({ followsFrom, ...draft }, { sessionId, turnId, toolUseId }) => {
    const known = chain.current;
    const parentEventId =
      followsFrom ?? (known === null ? null : parentIn(known, draft.type, toolUseId));
    const event = bus.emit({ ...draft, sessionId, turnId, parentEventId });
    if (known !== null) chain.current = extendChain(known, event);
    return event.id;
  };
}
