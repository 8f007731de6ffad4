// Emits events to the bus, each with its parent event.
import { extendChain, openChain, parentIn } from "../../core/events/chain.ts";
import type { EventType } from "../../core/events/event-catalogue.ts";
import type {
  DraftOf,
  EventBody,
  EventDraft,
  EventOf,
  StrataEvent,
} from "../../core/events/event.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { SharedChain } from "../../edge/tools/dispatch/tool-trace.ts";

/** The part of an event bus that the engine needs. */
export interface Emitter {
  emit<Type extends EventType>(draft: DraftOf<Type>): EventOf<Type>;
  /** Builds the event without delivering it, so that it can be stored in one transaction with other data. */
  prepare<Type extends EventType>(draft: DraftOf<Type>): EventOf<Type>;
  /** Delivers an event that is already stored. */
  deliver(event: StrataEvent): void;
  /** Makes the next ids of a session greater than this one, which another process made. */
  continueSession?(sessionId: string, lastEventId: string): void;
}

export interface About {
  readonly sessionId: string;
  readonly turnId: string | null;
  readonly chain: SharedChain;
}

export interface TurnEmitter {
  /** False if nothing takes its events. */
  readonly hasBus: boolean;
  emit(body: EventBody): void;
  /** Builds an event that is first stored with its data, then delivered. */
  prepare(body: EventBody): PreparedEvents;
}

export interface PreparedEvents {
  readonly events: readonly StrataEvent[];
  deliver(): void;
}

/** Without a bus it emits nothing. */
export function createTurnEmitter(bus: Emitter | undefined, about: About): TurnEmitter {
  if (bus === undefined) return { hasBus: false, emit: () => {}, prepare: () => nothing };
  const { chain } = about;
  const toDraft = (body: EventBody): EventDraft => {
    const { sessionId, turnId } = about;
    const parentEventId = chain.current === null ? null : parentIn(chain.current, body.type);
    return { ...body, sessionId, ...(turnId === null ? {} : { turnId }), parentEventId };
  };
  const follow = (event: StrataEvent): void => {
    const { current } = chain;
    chain.current = current === null ? openChain(event.id) : extendChain(current, event);
  };
  return {
    hasBus: true,
    emit: (body) => {
      const event = unlessRefused(() => bus.emit(toDraft(body)));
      if (event !== null) follow(event);
    },
    prepare: (body) => {
      const event = unlessRefused(() => bus.prepare(toDraft(body)));
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

/** A full or closed bus reports itself and stops no turn. */
export function unlessRefused<Result>(emit: () => Result): Result | null {
  try {
    return emit();
  } catch (error) {
    if (error instanceof StrataError) return null;
    throw error;
  }
}

const nothing: PreparedEvents = { events: [], deliver: () => {} };
