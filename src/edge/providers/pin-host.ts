// Keeps a session at the host that has its cache, where a router has many: it is asked for first, and the others stay allowed.
import type { ModelFacts } from "../../core/models/model-facts.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import type { Provider } from "./provider.ts";

export interface PinnedModel {
  readonly protocol: Protocol;
  readonly provider: Pick<Provider, "send">;
}

/** The same protocol and provider for one session. `nowMs` says how long a host's cache may still live. */
export function pinHost(
  { protocol, provider }: PinnedModel,
  cache: ModelFacts["cache"],
  nowMs: () => number,
): PinnedModel {
  const keptMs = keptSecondsOf(cache) * 1000;
  let pin: { readonly host: string; readonly atMs: number } | null = null;
  return {
    protocol: {
      ...protocol,
      encode: (call) => {
        const { options } = call;
        const isOwn = options.extraJson?.[member] !== undefined;
        if (pin === null || isOwn || nowMs() - pin.atMs >= keptMs) return protocol.encode(call);
        const json = JSON.stringify({ order: [pin.host], allow_fallbacks: true });
        const extraJson = { ...options.extraJson, [member]: json };
        return protocol.encode({ ...call, options: { ...options, extraJson } });
      },
    },
    provider: {
      send: async (call) => {
        const sent = await provider.send(call);
        const { outcome } = sent;
        if (outcome.kind === "reply") {
          const { servedBy } = outcome;
          if (servedBy !== undefined) pin = { host: servedBy, atMs: nowMs() };
        } else if (busy.has(outcome.kind)) pin = null;
        return sent;
      },
    },
  };
}

/** OpenRouter's member for the choice of hosts. The application's own choice comes first. */
const member = "provider";

/** A host that is overloaded or broken is let go: another one may answer at once. */
const busy: ReadonlySet<string> = new Set(["rate-limited", "overloaded", "server-error"]);

/** After it there is nothing to go back for. Where nothing is published: the time for which the router itself remembers a host. */
function keptSecondsOf({ lifetimes, automatic }: ModelFacts["cache"]): number {
  const known = [...lifetimes.map(({ seconds }) => seconds), automatic?.keptSecondsMin ?? 0];
  return Math.max(stickySeconds, ...known);
}

/** OpenRouter's own sticky routing ends after ten idle minutes (its documents, 2026-09). */
const stickySeconds = 600;
