// Events that tools emit themselves, linked into the turn's chain.
import { extendChain, openChain, parentIn } from "../../../core/events/chain.ts";
import type { PayloadOf } from "../../../core/events/event.ts";
import type { ToolCallContext } from "../../../core/tools/tool.ts";
import type { EventBus } from "../../events/event-bus.ts";
import type { SharedChain } from "./tool-trace.ts";

export type SaidInCall = { readonly [Type in CallEventType]: Draft<Type> }[CallEventType];

type CallEventType =
  | "memory.updated"
  | "memory.eviction"
  | "skill.search"
  | "skill.loaded"
  | "skill.modified";

interface Draft<Type extends CallEventType> {
  readonly type: Type;
  readonly payload: PayloadOf<Type>;
  /** Set if the tool knows the parent better than the chain does. */
  readonly followsFrom?: string | null;
}

/**
 * For `memoryTools` and `skillTools`: adds session, turn and parent. Returns the event's id. Throws what the
 * bus throws.
 */
export function createCallEmitter(
  bus: Pick<EventBus, "emit">,
  chain: SharedChain,
): (draft: SaidInCall, call: ToolCallContext) => string {
  return ({ followsFrom, ...draft }, { sessionId, turnId, toolUseId }) => {
    const known = chain.current;
    const parentEventId =
      followsFrom ?? (known === null ? null : parentIn(known, draft.type, toolUseId));
    const event = bus.emit({ ...draft, sessionId, turnId, parentEventId });
    if (known !== null) chain.current = extendChain(known, event);
    return event.id;
  };
}

/** Tracks the chain of a session's running turn by listening. The second result stops it. */
export function followTurns(
  bus: Pick<EventBus, "subscribe">,
  sessionId: string,
): readonly [SharedChain, () => void] {
  const chain: SharedChain = { current: null };
  const stop = bus.subscribe((event) => {
    if (event.sessionId !== sessionId) return;
    if (event.type === "turn.started") chain.current = openChain(event.id);
    else if (chain.current !== null && event.turnId !== null) {
      chain.current = extendChain(chain.current, event);
    }
  });
  return [chain, stop];
}
