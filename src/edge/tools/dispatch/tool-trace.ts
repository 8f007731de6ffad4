// The dispatcher's events, each with its parent.
import { extendChain, parentIn, type Chain } from "../../../core/events/chain.ts";
import type { EventType } from "../../../core/events/event-catalogue.ts";
import type { PayloadOf } from "../../../core/events/event.ts";
import type { EventBus } from "../../events/event-bus.ts";

/** The chain of a running turn, shared by everything that emits events for it. */
export interface SharedChain {
  current: Chain | null;
}

export interface ToolTrace {
  /** The event's id. Null if there is no listener or the event was refused. */
  emit(toolUseId: string, draft: ToolEventDraft): string | null;
}

export type ToolEventDraft = { readonly [Type in ToolEventType]: Draft<Type> }[ToolEventType];

type ToolEventType = Extract<EventType, `tool.${string}`>;

interface Draft<Type extends EventType> {
  readonly type: Type;
  readonly payload: PayloadOf<Type>;
}

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
