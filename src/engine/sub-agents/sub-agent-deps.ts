// What a sub-agent is opened with: the edges of whoever asks for it, which tell of it what only they can know.
import type { Provider } from "../../edge/providers/provider.ts";
import type { EngineDeps } from "../session/engine-deps.ts";
import type { Emitter } from "../events/turn-emitter.ts";

export interface SubAgentLinks {
  /** Of the tool use that asks for it; null where nobody was told of that. */
  readonly eventId: string | null;
  /** Told when the answer to one of its calls begins. */
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

/** The trace of an agent leads to those of its sub-agents: the first event of each follows from the tool use (D-09). */
function followingFrom(bus: Emitter, eventId: string): Emitter {
  return {
    emit: (draft) =>
      bus.emit(draft.type === "session.created" ? { ...draft, parentEventId: eventId } : draft),
    prepare: (draft) => bus.prepare(draft),
    deliver: (event) => bus.deliver(event),
  };
}
