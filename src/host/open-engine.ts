// The door: an engine from a few options. No file is read; keys come from the environment.
import { lifetimes } from "../core/message/usage.ts";
import type { Environment } from "../core/config/environment.ts";
import { readConfig, type ConfigOption } from "../core/config/read-config.ts";
import { toConfigError } from "../core/config/config-problem.ts";
import type { StrataConfig } from "../core/config/schema.ts";
import { telemetryVariables } from "../core/config/telemetry-variables.ts";
import type { Ledger } from "../core/ledger/ledger.ts";
import { isCount, isObject } from "../core/message/fields.ts";
import { builtInCatalogue, type Catalogue } from "../core/models/catalogue.ts";
import { findModel } from "../core/models/resolve-model.ts";
import { findKeyVariable, vendors } from "../core/wire/protocols.ts";
import { StrataError, messageOf } from "../core/strata-error.ts";
import { loadO200k, type TextCounter } from "../core/tokens/o200k/counter.ts";
import type { EventBus } from "../edge/events/event-bus.ts";
import { createWorkspaceCache } from "../edge/files/workspace/workspace-cache.ts";
import { openLedger } from "../edge/stores/open-ledger.ts";
import { createEngine, type Engine } from "../engine/session/create-engine.ts";
import type { CompactionHook } from "../engine/compaction/compaction-hooks.ts";
import type { EngineDeps } from "../engine/session/engine-deps.ts";
import { checkConfig, checkFields, type Check } from "../engine/session/check-input.ts";
import type { EngineConfig } from "../engine/session/engine-config.ts";
import type { Unfinished } from "../engine/session/live-session.ts";
import type { SimulatorOptions } from "../simulator/index.ts";
import { atConfiguredPlaces } from "./config/catalogue.ts";
import { isSimulatedModel } from "./config/choose-model.ts";
import { openAll, type Keep } from "./open-all.ts";
import { providerVariableNames } from "./config/environment.ts";
import { ofOneKind } from "./host-engine.ts";
import { openCounters } from "./parts/open-counters.ts";
import { followSecrets } from "./tool-secrets.ts";
import { openEngineWorld, type EngineWorldOptions } from "./parts/engine-world.ts";
import { openEvents } from "./ledger/open-events.ts";
import { openProviders } from "./parts/open-providers.ts";
import { followWithTelemetry, type TelemetrySettings } from "./parts/open-telemetry.ts";
import { markSimulated } from "./ledger/simulated-session.ts";

/** Besides these, everything an engine's configuration has: `policy`, `options`, `compaction` … */
export interface OpenEngineOptions extends EngineConfig, EngineWorldOptions {
  /** The system prompt. Nothing is added to it unless another option asks for it. */
  readonly system?: string;
  /** A file, a PostgreSQL address, or a ledger, which the caller closes. By default nothing outlives the process. */
  readonly store?: string | Ledger;
  /** Lets the built-in simulator answer: no key, no network, no bill. */
  readonly simulate?: boolean | SimulatorOptions;
  /** Asks the provider with every call why its cache missed, where its API is known to take the question. */
  readonly diagnose?: boolean;
  /** What the first run of a session does with a turn that a process left open; `finish` by default. */
  readonly unfinished?: Unfinished;
  /** Run before and after every compaction, all together. Their errors are notices. */
  readonly compactionHooks?: readonly CompactionHook[];
  /** Called with each notice for a person. Notices hold no keys. */
  readonly onNotice?: (notice: string) => void;
  /** Where keys and addresses of providers are; the process's variables by default. */
  readonly env?: Environment;
  readonly catalogue?: Catalogue;
  /** The o200k vocabulary by default, which takes a moment to load. */
  readonly counter?: TextCounter;
  /** OpenTelemetry spans and metrics: `true` sends them to the collector that OpenTelemetry's variables name. None by default. */
  readonly telemetry?: boolean | TelemetrySettings;
}

export interface OpenedEngine extends Engine {
  readonly ledger: Ledger;
  readonly events: EventBus;
  readonly isSimulated: boolean;
}

/** Throws a `StrataError` where no key is set for the model and `simulate` is not asked for. */
export async function openEngine(options: OpenEngineOptions): Promise<OpenedEngine> {
  checkFields(options, doorChecks, "model");
  checkConfig(options);
  const { model, simulate = false, env = process.env } = options;
  const isAsked = simulate !== false;
  const config = readProviders(env, isAsked, options.diagnose === true);
  if (!isAsked) requireReachable(config, model);
  const opened = await openAll((keep) => openParts(options, config, keep));
  return { ...opened, [Symbol.asyncDispose]: opened.close };
}

const isText = (value: unknown): boolean => typeof value === "string";
const isCall = (value: unknown): boolean => typeof value === "function";

const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
function isBlock(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { label, text, lifetime = null } = value;
  const isKnown = lifetime === null || lifetimes.some((each) => each === lifetime);
  return typeof label === "string" && (text === null || typeof text === "string") && isKnown;
}

const isTextMap = (value: unknown): boolean =>
  isObject(value) && Object.values(value).every(isText);

function hasCall(value: unknown, name: string): boolean {
  return isObject(value) && isCall(value[name]);
}

/** Options of an application without types. `checkConfig` knows the others. */
const doorChecks: Readonly<Record<string, Check>> = {
  model: [isText, "the name of a model"],
  system: [isText, "the system prompt as text"],
  tools: [
    (value) => Array.isArray(value) && value.every((each) => hasCall(each, "run")),
    "a list of tools made with defineTool",
  ],
  store: [
    (value) => isText(value) || hasCall(value, "findSession"),
    "a file, a PostgreSQL address or a ledger",
  ],
  unfinished: [(value) => value === "finish" || value === "abandon", "finish or abandon"],
  callsMax: [(value) => isCount(value) && value > 0, "a whole number from 1"],
  confirm: [isCall, "a function"],
  workspace: [isText, "a folder"],
  toolset: [(value) => isText(value) || isObject(value), "the name of a toolset, or a toolset"],
  skills: [isTexts, "a list of names"],
  documents: [isTexts, "a list of paths from the workspace"],
  permissions: [isTexts, "a list of names"],
  peers: [isTextMap, "an object with a text for each name"],
  guidance: [isTextMap, "an object with a text for each model"],
  blocks: [
    (value) => Array.isArray(value) && value.every(isBlock),
    `a list of { label, text, lifetime }, with lifetime one of ${lifetimes.join(", ")}`,
  ],
  persona: [isObject, "{ identity, soul }"],
  environment: [
    (value) => isCall(value) || (isObject(value) && Array.isArray(value["capabilities"])),
    "{ capabilities: [{ category, name, status }] }, or a function that returns it",
  ],
  memoryProvider: [(value) => hasCall(value, "recall"), "{ name, recall }"],
  ...Object.fromEntries(
    ["systemFile", "personaFile", "userIdentity", "dailyNotes", "bindingPrompt", "language"].map(
      (name): [string, Check] => [name, [isText, "text"]],
    ),
  ),
  diagnose: [(value) => typeof value === "boolean", "true or false"],
  compactionHooks: [
    (value) => Array.isArray(value) && value.every(isObject),
    "a list of { before, after }",
  ],
  onNotice: [isCall, "a function"],
  telemetry: [
    (value) => typeof value === "boolean" || isObject(value),
    "true, false, or { endpoint, headers, serviceName }",
  ],
  env: [isObject, "an object of variables"],
  catalogue: [
    (value) => isObject(value) && value["names"] instanceof Map,
    "a catalogue made with createCatalogue",
  ],
  counter: [(value) => hasCall(value, "count"), "a counter such as loadO200k gives"],
};

/** Each part needs the earlier ones. */
async function openParts(
  options: OpenEngineOptions,
  config: StrataConfig,
  keep: Keep,
): Promise<OpenedEngine> {
  const { model: firstModel, agent = "agent", store, simulate, unfinished } = options;
  const { onNotice = () => {} } = options;
  const catalogue = atConfiguredPlaces(options.catalogue ?? builtInCatalogue, config);
  const followed = { files: [], now: () => config, current: () => Promise.resolve(config) };
  const ledger = typeof store === "object" ? store : keep(await openStore(store, onNotice));
  const events = keep(openEvents({ ledger, onNotice }));
  const asked = options.telemetry ?? false;
  const telemetry = await followWithTelemetry(events, {
    config: config.telemetry,
    asked,
    agentOf: () => agent,
    onNotice,
  });
  if (telemetry !== null) keep(telemetry);
  const simulator = typeof simulate === "object" ? simulate : undefined;
  const reaching = { config: followed, catalogue, firstModel, onNotice, simulator };
  const providers = keep(openProviders(reaching));
  const counter = options.counter ?? (await loadO200k());
  const counting = { config: followed, agent, textCounter: counter, onNotice };
  const counters = keep(openCounters(counting));
  const { env = process.env } = options;
  const address = typeof store === "string" ? store : undefined;
  const redact = followSecrets({ now: followed.now, env, store: address, onNotice });
  const documents = createWorkspaceCache();
  keep({ close: () => Promise.resolve(documents.close()) });
  const open = openEngineWorld(options, { ledger, events, redact, documents, onNotice });
  const deps: EngineDeps = {
    ledger,
    events,
    redact,
    onNotice,
    catalogue,
    counter,
    ...(options.compactionHooks === undefined ? {} : { compactionHooks: options.compactionHooks }),
    reach: async (facts) => {
      const reached = await providers.reach(facts);
      return { ...reached, counter: counters.of(reached) };
    },
    canReach: (facts) => providers.canReach(facts),
    world: async (owner) => {
      const world = await open(owner);
      return providers.isSimulated ? markSimulated(world, { isTemporary: false }) : world;
    },
  };
  const { workspace } = options;
  const configured = workspace === undefined ? options : { workspacePath: workspace, ...options };
  const engine = ofOneKind(keep(createEngine(configured, deps)), { ledger, providers });
  const usual = unfinished === undefined ? {} : { unfinished };
  return {
    ...engine,
    session: (id, how) => engine.session(id, { ...usual, ...how }),
    ledger,
    events,
    isSimulated: providers.isSimulated,
  };
}

function openStore(where: string | undefined, onNotice: (notice: string) => void): Promise<Ledger> {
  return openLedger(where ?? ":memory:", {
    onProblem: (problem) => onNotice(messageOf(problem)),
  });
}

/** Providers by the variables that name their keys and addresses; everything else has its default. */
function readProviders(env: Environment, isSimulated: boolean, isDiagnosed: boolean): StrataConfig {
  const known = providerVariableNames.map((name) => [name, env[name]] as const);
  const forTelemetry = Object.fromEntries(telemetryVariables.map((name) => [name, env[name]]));
  const { config, problems } = readConfig({
    files: [],
    env: { ...(isSimulated ? {} : Object.fromEntries(known)), ...forTelemetry },
    options: [...(isSimulated ? simulated : []), ...(isDiagnosed ? diagnosed : [])],
  });
  if (config === null) throw toConfigError(problems);
  return config;
}

const builtIn = ["anthropic", "openai"];

const simulated: readonly ConfigOption[] = vendors.map(({ name }) => ({
  name: "simulate",
  path: ["providers", name, "kind"],
  value: "simulator",
}));

const diagnosed: readonly ConfigOption[] = builtIn.map((provider) => ({
  name: "diagnose",
  path: ["providers", provider, "diagnose"],
  value: true,
}));

function requireReachable(config: StrataConfig, model: string): void {
  try {
    if (!isSimulatedModel(config, model)) return;
  } catch (error) {
    if (!(error instanceof StrataError) || error.code !== "environment-unfit") throw error;
    throw unreachable(model, error.message, error);
  }
  throw unreachable(model, `${model} cannot be reached: no provider has a key`);
}

function unreachable(model: string, message: string, cause?: unknown): StrataError {
  const key = findKeyVariable(findModel(model)?.facts);
  return new StrataError(
    "environment-unfit",
    message,
    `${key === undefined ? "configure its provider" : `set ${key}`}, or give \`simulate: true\` for the built-in simulator`,
    cause === undefined ? {} : { cause },
  );
}
