// From a model to its configured provider, or to the simulator with a notice.
import type { ProviderConfig } from "../../core/config/schema/providers.ts";
import { builtInCatalogue, type Catalogue } from "../../core/models/catalogue.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import { findKeyVariable, findVendor } from "../../core/wire/protocols.ts";
import {
  type SimulatorOptions,
  createAgent,
  createSimulator,
  type OpenServer,
} from "../../simulator/index.ts";
import { machineClock } from "./clock.ts";
import { pinHost } from "./pin-host.ts";
import { type Provider, createProvider, type ProviderOptions } from "./provider.ts";
import {
  speakTo,
  withBasePath,
  withDiagnosis,
  withPlanBetas,
  type PlanBetas,
} from "./reach-calls.ts";
import { chooseProvider, hasCredentials, noKey, type ProviderChoice } from "./reach-choice.ts";
import { createProviderPool, type ProviderPlace, type ProviderPool } from "./reach-pool.ts";
import {
  kindFor,
  protocolOfKind,
  simulatedPlace,
  withAddress,
  type SimulatedPlace,
} from "./reach-settings.ts";
import { toEndpoint } from "../../core/wire/access.ts";

export interface ReachOptions {
  /** Read before every call: changed addresses, keys, limits and retries hold from the next call on. */
  readonly providers: () => ReadonlyMap<string, ProviderConfig>;
  readonly catalogue?: Catalogue;
  readonly betas?: () => PlanBetas;
  /** Called once when answers are simulated, and for unusable settings. For a person; holds no key. */
  readonly onNotice?: (notice: string) => void;
  readonly simulator?: SimulatorOptions;
  /** Milliseconds since 1970; the machine's clock by default. */
  readonly nowMs?: () => number;
}

export interface ReachedModel {
  readonly protocol: Protocol;
  readonly provider: Pick<Provider, "send">;
  readonly isSimulated: boolean;
  readonly counting: CountingPlace;
}

/** Where to count prompts for a model: at the same address, with the same key. */
export interface CountingPlace {
  /** The same for all models that are reached there. */
  readonly name: string;
  readonly hasKey: boolean;
  open(counting: Protocol): Pick<Provider, "send">;
}

export interface Providers {
  /** The provider that would answer. Opens nothing. */
  choose(model: ModelFacts): ProviderChoice;
  /** A session keeps its protocol, and whether it is simulated. `asked`: a protocol instead of the provider's usual one. */
  reach(model: ModelFacts, asked?: Protocol): Promise<ReachedModel>;
  /** Cancels running requests and ends every connection. */
  close(): Promise<void>;
}

export function reachProviders(options: ReachOptions): Providers {
  const { providers, catalogue = builtInCatalogue, betas = () => noBetas } = options;
  const { onNotice = () => {}, nowMs = () => machineClock.nowMs() } = options;
  const pool = createProviderPool(({ message, hint }) => onNotice(`${message}\n  ${hint}`));
  const simulated = createSimulatedProviders(options.simulator);
  let isSaid = false;
  const choose = (model: ModelFacts): ProviderChoice => {
    const isOwnRoute = catalogue.routesOf(model.id)[0] === model.route;
    return chooseProvider({ ...model, isOwnRoute }, providers());
  };
  const simulate = async (model: ModelFacts, why: string): Promise<ReachedModel> => {
    const place = simulatedPlace(model);
    const { protocol } = place;
    const provider = await simulated.open(place, protocol);
    if (!isSaid) onNotice(simulationNotice(why, model));
    isSaid = true;
    const counting = simulated.countAt(place);
    const placed = withBasePath(protocol, () => place.path);
    const spoken = withDiagnosis(withPlanBetas(placed, betas), () => asksWhy(model, providers()));
    const reached = { protocol: spoken, provider };
    return {
      ...(place.hasManyHosts ? pinHost(reached, model.cache, nowMs) : reached),
      isSimulated: true,
      counting,
    };
  };
  return {
    choose,
    reach: async (model, asked) => {
      const choice = choose(model);
      if (choice.kind === "simulated") return simulate(model, choice.why);
      const { name } = choice;
      const { kind } = choice.settings;
      if (kind === "simulator") return simulate(model, `providers.${name} is a simulator`);
      const protocol = asked ?? protocolOfKind(kindFor(choice.settings, name, model));
      const toSettings = (given: ProviderConfig): ProviderConfig =>
        withAddress({ ...given, kind: kindFor(given, name, model) }, name, protocol);
      const settings = toSettings(choice.settings);
      const latest = (): ProviderConfig | null => {
        const now = speaking(providers().get(name), { name, model, protocol });
        return now === null ? null : toSettings(now);
      };
      const provider = pool.open({ name, protocol, settings, latest });
      const current = (): ProviderConfig => latest() ?? settings;
      const spoken = speakTo({ name, protocol, settings: current, betas, catalogue });
      const counting = countingAt({ name, protocol, settings, latest }, pool);
      const reached = { protocol: spoken, provider };
      const isRouter = findVendor(name)?.listed?.hasManyHosts === true;
      const pinned = isRouter ? pinHost(reached, model.cache, nowMs) : reached;
      return { ...pinned, isSimulated: false, counting };
    },
    close: async () => {
      await Promise.all([pool.close(), simulated.close()]);
    },
  };
}

function countingAt(
  { name, protocol, settings, latest }: ProviderPlace,
  pool: Pick<ProviderPool, "open">,
): CountingPlace {
  return {
    name: `${name}\n${protocol.name}`,
    hasKey: hasCredentials(settings),
    open: (counted) =>
      pool.open({
        name: `${name}, counting`,
        protocol: counted,
        settings: triedOnce(settings),
        latest: () => triedOnce(latest()),
      }),
  };
}

/** Whether the provider of a simulated model is configured to say why its cache missed. */
function asksWhy(
  { route, provider }: ModelFacts,
  providers: ReadonlyMap<string, ProviderConfig>,
): boolean {
  return [route, provider].some((name) => providers.get(name)?.diagnose === true);
}

/** A failed count is not worth a retry. */
function triedOnce<Settings extends ProviderConfig | null>(settings: Settings): Settings {
  if (settings === null) return settings;
  return { ...settings, retries: { ...settings.retries, attemptsMax: 1 } };
}

/** One line for people. Without the advice if the user chose the simulator by name. */
function simulationNotice(why: string, model: ModelFacts): string {
  const key = why === noKey ? findKeyVariable(model) : undefined;
  const advice = key === undefined ? "" : ` Set ${key} to ask ${model.id}.`;
  return `answers are simulated: ${why}.${advice}`;
}

const noBetas: PlanBetas = { any: [], long: [] };

/** A session cannot change its protocol. */
function speaking(
  settings: ProviderConfig | undefined,
  { name, model, protocol }: { name: string; model: ModelFacts; protocol: Protocol },
): ProviderConfig | null {
  if (settings === undefined || settings.kind === "simulator") return null;
  return protocolOfKind(kindFor(settings, name, model)) === protocol ? settings : null;
}

interface SimulatedProviders {
  /** One provider per vendor and protocol. The first call starts the server. */
  open(place: SimulatedPlace, protocol: Protocol): Promise<Provider>;
  countAt(place: SimulatedPlace): CountingPlace;
  close(): Promise<void>;
}

/** It plays an agent that looks around with the tools it is offered, and bills like the real one. */
function createSimulatedProviders(
  options: SimulatorOptions = {},
  how: Pick<ProviderOptions, "timeouts" | "retries"> = {},
): SimulatedProviders {
  let listening: Promise<OpenServer> | null = null;
  const opened = new Map<string, Promise<Provider>>();
  const open = async (
    { path, isLocal: timesReading }: SimulatedPlace,
    protocol: Protocol,
  ): Promise<Provider> => {
    // A server of one's own says how long it reads by taking that long.
    const all: SimulatorOptions = { model: createAgent(), local: { waits: true }, ...options };
    listening ??= createSimulator(all).listen({ port: 0 });
    const { url } = await listening;
    const endpoint = toEndpoint(protocol.access, { apiKey: anyKey, baseUrl: `${url}${path}` });
    return createProvider({ protocol, ...endpoint, ...how, timesReading });
  };
  const openOnce = (place: SimulatedPlace, protocol: Protocol): Promise<Provider> => {
    const name = `${place.name}\n${protocol.name}`;
    const known = opened.get(name) ?? open(place, protocol);
    opened.set(name, known);
    return known;
  };
  return {
    open: openOnce,
    countAt: (place) => ({
      name: `simulator\n${place.name}\n${place.protocol.name}`,
      hasKey: true,
      open: (asked) => ({ send: async (call) => (await openOnce(place, asked)).send(call) }),
    }),
    close: async () => {
      const providers = await Promise.all(opened.values());
      await Promise.all(providers.map((provider) => provider.close()));
      await (await listening)?.close();
    },
  };
}

/** Each key is a separate workspace of the simulator; the server belongs to this process only. */
const anyKey = "simulated-key";
