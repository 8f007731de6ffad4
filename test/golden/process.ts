// One process: a connection to the ledger, an event bus, a provider and an engine. It ends in order, or is left to itself
// as after a crash.
import { expectRun, watchTurn, type WatchOptions } from "./watch-turn.ts";
import {
  cheapCounter,
  createCatalogue,
  createEngine,
  createEventBus,
  createProvider,
  openSqliteLedger,
  withDelegation,
  type DelegationOptions,
  type Engine,
  type EngineConfig,
  type EngineDeps,
  type EngineSession,
  type EventBus,
  type Ledger,
  type Provider,
  type Reached,
  type RunOptions,
  type Tool,
  type TurnHandle,
  type TurnResult,
  type World,
} from "./kit.ts";
import { sides, type Side } from "./sides.ts";
import type { Stage } from "./stage.ts";
import { makeWorld } from "./world.ts";

export interface ProcessOptions {
  readonly config?: Partial<EngineConfig>;
  readonly deps?: Partial<EngineDeps>;
  readonly delegation?: DelegationOptions;
  /** For both models; what the catalogue has by default. */
  readonly windowTokens?: number;
  readonly stream?: boolean;
  readonly tools?: readonly Tool[];
  readonly world?: (process: Made) => NonNullable<EngineDeps["world"]>;
  readonly volatile?: NonNullable<World["volatile"]>;
}

/** What a world may be made of. */
export interface Made {
  readonly ledger: Ledger;
  readonly events: EventBus;
}

export interface Process extends Made {
  readonly engine: Engine;
  readonly reach: () => Reached;
  /** Runs a turn with a name of its own to its end, and notes its parts and its result. */
  readonly say: (
    session: EngineSession,
    text: string,
    options?: RunOptions & WatchOptions,
  ) => Promise<TurnResult>;
  /** The same of a turn that somebody else began. */
  readonly watch: (handle: TurnHandle, options?: WatchOptions) => Promise<TurnResult | null>;
  /** As a program that ends. */
  readonly end: () => Promise<void>;
  /** Whatever still runs in it is cut off. */
  readonly close: () => Promise<void>;
}

export async function openProcess(stage: Stage, options: ProcessOptions): Promise<Process> {
  const { side } = stage;
  const ledger = await openSqliteLedger({
    file: stage.file,
    synchronous: "NORMAL",
    holder: "golden",
    now: stage.now,
  });
  const events = createEventBus({
    store: ledger,
    strictness: "strict",
    nowUs: () => stage.now() * 1000,
    onProblem: (problem) => void stage.results.push({ problemOfTheBus: problem }),
  });
  events.subscribe((event) => void stage.told.push(event));
  const providers = new Map<Side, Provider>();
  const reach = (to: Side): Reached => {
    const provider = providers.get(to) ?? openProvider(stage, to);
    providers.set(to, provider);
    return { protocol: to.protocol, provider };
  };
  const closeProviders = async (): Promise<void> => {
    for (const provider of providers.values()) await provider.close();
  };
  const config: EngineConfig = {
    model: side.model,
    // The records were made when every session had a role and short prompts were padded.
    role: "unified",
    ...(isAdaptive(options.config?.policy) ? { padding: "auto" } : {}),
    reserves: { responseTokens: 1_000, toolTokens: 1_000 },
    ...options.config,
    options: {
      outputTokensMax: 1_000,
      stream: options.stream ?? true,
      ...options.config?.options,
    },
  };
  const deps: EngineDeps = {
    ledger,
    events,
    counter: cheapCounter,
    now: stage.now,
    reach: ({ provider: name }) => reach(sideOf(side, name)),
    world: options.world?.({ ledger, events }) ?? makeWorld(events, options),
    ...(options.windowTokens === undefined
      ? {}
      : { catalogue: smallCatalogue([side.model, side.otherModel], options.windowTokens) }),
    ...options.deps,
  };
  const engine = createEngine(
    config,
    options.delegation === undefined ? deps : withDelegation(config, deps, options.delegation),
  );
  const running = new Map<TurnHandle, Promise<unknown>>();
  const watch: Process["watch"] = (handle, how) => {
    const watched = watchTurn(stage, handle, how);
    running.set(handle, watched);
    return watched;
  };
  const end = async (): Promise<void> => {
    await engine.close();
    await events.close();
    await closeProviders();
    await ledger.close();
  };
  let isEnded = false;
  return {
    ledger,
    events,
    engine,
    reach: () => reach(side),
    watch,
    say: async (session, text, { onPart, ...run } = {}) => {
      const handle = session.run(text, { id: stage.nextTurnId(), ...run });
      return expectRun(await watch(handle, onPart === undefined ? {} : { onPart }));
    },
    end: () => {
      isEnded = true;
      return end();
    },
    close: async () => {
      if (isEnded) return;
      await closeProviders();
      for (const handle of running.keys()) handle.abort();
      await Promise.allSettled(running.values());
      await end().catch(() => {});
    },
  };
}

/** The scenario's own, or the first one of another provider. */
function sideOf(side: Side, provider: string): Side {
  if (side.provider === provider) return side;
  const other = sides.find((each) => each.provider === provider);
  if (other === undefined) throw new Error(`nobody speaks for ${provider}`);
  return other;
}

/** Its clock is the scenario's: a wait between attempts moves it, and a limit never runs out. */
function openProvider(stage: Stage, side: Side): Provider {
  return createProvider({
    protocol: side.protocol,
    ...side.endpoint(stage.url),
    retries: { attemptsMax: 3 },
    timeouts: { connectMs: limitMs },
    random: () => 0.5,
    clock: {
      nowMs: stage.now,
      after: (delayMs, run) => {
        let isWanted = delayMs < limitMs;
        if (isWanted) void stage.pass(delayMs).then(() => isWanted && run());
        return () => {
          isWanted = false;
        };
      },
    },
  });
}

/** Shorter than every limit, longer than every wait between attempts. */
const limitMs = 100_000;

function smallCatalogue(
  models: readonly string[],
  window: number,
): NonNullable<EngineDeps["catalogue"]> {
  const override = Object.fromEntries(models.map((model) => [model, { window }]));
  return createCatalogue({ origin: "the scenario", override });
}

function isAdaptive(policy: EngineConfig["policy"] = "adaptive"): boolean {
  return (typeof policy === "string" ? policy : policy.name) === "adaptive";
}
