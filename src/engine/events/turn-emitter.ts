// Telling the bus what happens, each event with the one it follows from (D-09).
import { extendChain, openChain, parentIn } from "../../core/events/chain.ts";
import type { EventType } from "../../core/events/event-catalogue.ts";
import type {
  DraftOf,
  EventDraft,
  EventOf,
  PayloadOf,
  StrataEvent,
} from "../../core/events/event.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { SharedChain } from "../../edge/tools/dispatch/tool-trace.ts";

/** What of a bus the engine needs. */
export interface Emitter {
  emit<Type extends EventType>(draft: DraftOf<Type>): EventOf<Type>;
  /** Makes the event without telling anybody: to be stored in one transaction with something else. */
  prepare<Type extends EventType>(draft: DraftOf<Type>): EventOf<Type>;
  /** Tells of an event that is stored already. */
  deliver(event: StrataEvent): void;
}

export type EventBody = { readonly [Type in EventType]: SaidOf<Type> }[EventType];

interface SaidOf<Type extends EventType> {
  readonly type: Type;
  readonly payload: PayloadOf<Type>;
}

export interface About {
  readonly sessionId: string;
  /** Null outside a turn. */
  readonly turnId: string | null;
  readonly chain: SharedChain;
}

export interface TurnEmitter {
  emit(body: EventBody): void;
  /** To be stored with what it tells of, then told. */
  prepare(body: EventBody): PreparedEvents;
}

export interface PreparedEvents {
  readonly events: readonly StrataEvent[];
  deliver(): void;
}

/** Without a bus nothing is told. */
export function createTurnEmitter(bus: Emitter | undefined, about: About): TurnEmitter {
  if (bus === undefined) return { emit: () => {}, prepare: () => nothing };
  const { chain } = about;
  const toDraft = (said: EventBody): EventDraft => {
    const { sessionId, turnId } = about;
    const parentEventId = chain.current === null ? null : parentIn(chain.current, said.type);
    return { ...said, sessionId, ...(turnId === null ? {} : { turnId }), parentEventId };
  };
  const follow = (event: StrataEvent): void => {
    const { current } = chain;
    chain.current = current === null ? openChain(event.id) : extendChain(current, event);
  };
  return {
    emit: (said) => {
      const event = unlessRefused(() => bus.emit(toDraft(said)));
      if (event !== null) follow(event);
    },
    prepare: (said) => {
      const event = unlessRefused(() => bus.prepare(toDraft(said)));
      if (event === null) return nothing;
      return {
        events: [event],
        deliver: () => {
          follow(event);
          unlessRefused(() => bus.deliver(event));
        },
      };
    },
  };
}

/** A bus that is full or closed reports that itself, and stops no turn. */
export function unlessRefused<Result>(tell: () => Result): Result | null {
  try {
    return tell();
  } catch (error) {
    if (error instanceof StrataError) return null;
    throw error;
  }
}

const nothing: PreparedEvents = { events: [], deliver: () => {} };
