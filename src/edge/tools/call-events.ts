// What tools tell of themselves, and the chain of events they are told in.
import { extendChain, openChain, parentIn } from "../../core/events/chain.ts";
import type { PayloadOf } from "../../core/events/event.ts";
import type { ToolCallContext } from "../../core/tools/tool.ts";
import type { EventBus } from "../events/event-bus.ts";
import type { SharedChain } from "./tool-trace.ts";

export type SaidInCall = { readonly [Type in CallEventType]: Said<Type> }[CallEventType];

type CallEventType =
  | "memory.updated"
  | "memory.eviction"
  | "skill.search"
  | "skill.loaded"
  | "skill.modified";

interface Said<Type extends CallEventType> {
  readonly type: Type;
  readonly payload: PayloadOf<Type>;
  /** Where the tool knows it better than the chain. */
  readonly followsFrom?: string | null;
}

/** For `memoryTools` and `skillTools`: adds session, turn and parent. Returns the event's id; throws what the bus throws. */
export function createCallEmitter(
  bus: Pick<EventBus, "emit">,
  chain: SharedChain,
): (said: SaidInCall, call: ToolCallContext) => string {
  return ({ followsFrom, ...said }, { sessionId, turnId, toolUseId }) => {
    const known = chain.current;
    const parentEventId =
      followsFrom ?? (known === null ? null : parentIn(known, said.type, toolUseId));
    const event = bus.emit({ ...said, sessionId, turnId, parentEventId });
    if (known !== null) chain.current = extendChain(known, event);
    return event.id;
  };
}

/** The chain of a session's running turn, kept by listening. The second result ends it. */
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
