// Connections to configured providers. After a change, new calls use the new settings; running calls end on the old ones.
import type { ProviderConfig } from "../../core/config/schema/providers.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import { createProvider, type Provider } from "./provider.ts";
import { keyOfSettings, toProviderOptions } from "./reach-settings.ts";

export interface ProviderPool {
  /** Callers with the same settings share one provider. Throws for unusable settings. */
  open(place: ProviderPlace): Pick<Provider, "send" | "timeoutMs">;
  close(): Promise<void>;
}

export interface ProviderPlace {
  readonly name: string;
  readonly protocol: Protocol;
  readonly settings: ProviderConfig;
  /** Read before every call; null keeps the old settings. */
  readonly latest: () => ProviderConfig | null;
}

interface Held {
  readonly key: string;
  readonly provider: Provider;
  underWay: number;
  isReplaced: boolean;
}

/** `onProblem` is called once for unusable new settings; the old ones then stay. */
export function createProviderPool(onProblem: (problem: StrataError) => void): ProviderPool {
  const all = new Set<Held>();
  const current = new Map<string, Held>();
  const refused = new Set<string>();

  const hold = (place: ProviderPlace, settings: ProviderConfig): Held => {
    const { protocol } = place;
    const key = keyOfSettings(settings);
    const before = current.get(nameOf(place));
    if (before?.key === key) return before;
    const provider = createProvider(toProviderOptions(settings, protocol, place.name));
    const held = { key, provider, underWay: 0, isReplaced: false };
    all.add(held);
    current.set(nameOf(place), held);
    if (before !== undefined) {
      before.isReplaced = true;
      letGo(before, all);
    }
    return held;
  };
  const renew = (place: ProviderPlace, own: Held): Held => {
    const latest = place.latest();
    // The own connection may be closed: another caller may already use newer settings.
    const before = current.get(nameOf(place)) ?? own;
    if (latest === null || refused.has(keyOfSettings(latest))) return before;
    try {
      return hold(place, latest);
    } catch (error) {
      if (!(error instanceof StrataError)) throw error;
      refused.add(keyOfSettings(latest));
      onProblem(error);
      return before;
    }
  };
  return {
    open: (place) => {
      let held = hold(place, place.settings);
      return {
        get timeoutMs() {
          return held.provider.timeoutMs;
        },
        send: async (call) => {
          held = renew(place, held);
          const used = held;
          used.underWay += 1;
          try {
            return await used.provider.send(call);
          } finally {
            used.underWay -= 1;
            letGo(used, all);
          }
        },
      };
    },
    close: async () => {
      await Promise.all([...all].map(({ provider }) => provider.close()));
      all.clear();
    },
  };
}

/** Closes it when it has no users and will get none. */
function letGo(held: Held, all: Set<Held>): void {
  if (!held.isReplaced || held.underWay > 0) return;
  all.delete(held);
  void held.provider.close().catch(() => {});
}

function nameOf({ name, protocol }: ProviderPlace): string {
  return `${name}\n${protocol.name}`;
}
