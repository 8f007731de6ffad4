// What the dispatcher tells the bus, each event with the one it follows from.
import { extendChain, parentIn, type Chain } from "../../core/events/chain.ts";
import type { EventType } from "../../core/events/event-catalogue.ts";
import type { PayloadOf } from "../../core/events/event.ts";
import type { EventBus } from "../events/event-bus.ts";

/** The chain of a running turn, shared with whoever tells of its calls, so that each goes on where the other is. */
export interface SharedChain {
  current: Chain | null;
}

export interface ToolTrace {
  /** The id of the event; null when nobody listens or it was refused. */
  tell(toolUseId: string, said: SaidOfTool): string | null;
}

export type SaidOfTool = { readonly [Type in ToolEventType]: Said<Type> }[ToolEventType];

type ToolEventType = Extract<EventType, `tool.${string}`>;

interface Said<Type extends EventType> {
  readonly type: Type;
  readonly payload: PayloadOf<Type>;
}

export interface TraceOptions {
  readonly emitter: Pick<EventBus, "emit"> | undefined;
  readonly sessionId: string;
  readonly turnId: string;
  readonly chain: SharedChain | undefined;
  /** Told when an event was not taken. A tool runs all the same. Never throws. */
  readonly onProblem: (problem: unknown) => void;
}

export function createToolTrace(options: TraceOptions): ToolTrace {
  const { emitter, sessionId, turnId, chain, onProblem } = options;
  /** The last event of each tool use, for turns whose chain nobody knows. */
  const latest = new Map<string, string>();
  return {
    tell: (toolUseId, said) => {
      if (emitter === undefined) return null;
      const known = chain?.current ?? null;
      const parentEventId =
        known === null ? (latest.get(toolUseId) ?? null) : parentIn(known, said.type, toolUseId);
      try {
        const event = emitter.emit({ ...said, sessionId, turnId, parentEventId });
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
