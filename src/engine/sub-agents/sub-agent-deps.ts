// The deps of a sub-agent: its parent's deps, which also report the start of its calls.
import type { Provider } from "../../edge/providers/provider.ts";
import type { EngineDeps } from "../session/engine-deps.ts";
import type { Emitter } from "../events/turn-emitter.ts";

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
