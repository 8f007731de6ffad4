// The gateway as flags and strata.yaml say, and the same again when strata.yaml changes.
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { isLoopback } from "../../api/access/check-headers.ts";
import { openApi, type Api } from "../../api/open-api.ts";
import { toCatalogueChanges } from "../../core/config/check-whole.ts";
import type { GatewayConfig } from "../../core/config/schema/gateway.ts";
import { onlyPresent } from "../../core/message/fields.ts";
import { StrataError } from "../../core/strata-error.ts";
import { openPage } from "../../dashboard/open-page.ts";
import type { OwnAnswers } from "../../gateway/answer-requests.ts";
import { createGatewayMetrics } from "../../gateway/gateway-metrics.ts";
import { openGateway, type Gateway, type GatewayOptions } from "../../gateway/open-gateway.ts";
import type { GatewayKeys } from "../../gateway/admission/gateway-key.ts";
import type { TlsFiles } from "../../gateway/listen/open-listener.ts";
import { builtInUpstreams, upstreamsAt } from "../../gateway/upstreams/built-in.ts";
import { toUpstreamTable } from "../../gateway/upstreams/configured.ts";
import type { UpstreamTable } from "../../gateway/upstreams/upstream-table.ts";
import { readDataDirectory, readStore } from "../../host/config/environment.ts";
import { followConfig } from "../../host/config/follow-config.ts";
import { openHostTelemetry } from "../../host/parts/open-telemetry.ts";
import { countTelemetry } from "../../edge/exporters/otel/count-telemetry.ts";
import { simulatedFile } from "../../host/ledger/ledger-place.ts";
import { createAgent, createSimulator, type OpenServer } from "../../simulator/index.ts";
import type { Io } from "../command.ts";
import { createDemo, type Demo } from "./demo/play-demo.ts";
import { createKnownKeys, readGatewayKeys } from "./read-keys.ts";
import { readFile, readSecretFile, readSecretLine } from "./secret-files.ts";
import type { ServeFlags } from "./serve-flags.ts";

export interface Served {
  readonly gateway: Gateway;
  readonly isSimulated: boolean;
  readonly needsToken: boolean;
  /** Where a browser looks at all this; with a code that is good once if there is a token. */
  readonly dashboard: (url: string) => string;
  /** What is played before the gateway is of use; null for nothing. */
  readonly demo: Demo | null;
  /** The names of the gateway's own keys. */
  readonly keyNames: readonly string[];
  /** Reads the configuration again, if it changed, and uses its upstreams. */
  reload(): Promise<void>;
  /** Waits for open streams as long as configured, or not at all. */
  close(how: "drained" | "at once"): Promise<void>;
}

export interface ServeOptions extends Pick<GatewayOptions, "onCall" | "onExchange"> {
  readonly flags: ServeFlags;
  readonly env: Io["env"];
  readonly onNotice: (notice: string) => void;
}

export async function openServe(options: ServeOptions): Promise<Served> {
  const { flags, env, onNotice } = options;
  const { configFile } = flags;
  const workspace = process.cwd();
  const config = await followConfig({ workspace, configFile, env, onNotice });
  const settings = config.now().gateway;
  const token = readToken(env, settings.tokenFile);
  const { demo, simulator } = await openSimulator(flags, onNotice);
  const toUpstreams = (): GatewayConfig["upstreams"] =>
    simulator === null
      ? new Map([...config.now().gateway.upstreams, ...flags.upstreams])
      : flags.upstreams;
  const region = env["AWS_REGION"] ?? env["AWS_DEFAULT_REGION"] ?? null;
  const toTable = (): UpstreamTable => {
    const known = simulator === null ? builtInUpstreams() : upstreamsAt(simulator.url);
    return toUpstreamTable(toUpstreams(), known, region);
  };
  const table = toTable();
  const { isSimulated } = flags;
  const toKeys = (next: UpstreamTable): GatewayKeys => {
    const { keys } = config.now().gateway;
    return readGatewayKeys({ keys, upstreams: toUpstreams() }, { env, table: next, isSimulated });
  };
  const store = findStore(env, flags, config.now().ledger.store);
  if (demo !== null) forgetDemo(store);
  const metrics = createGatewayMetrics();
  // A day that is played lies in the past.
  const telemetry = await openHostTelemetry({
    config: config.now().telemetry,
    asked: demo === null ? undefined : false,
    onNotice,
  });
  if (telemetry !== null) countTelemetry(metrics.registry, telemetry);
  const known = createKnownKeys();
  const running: { gateway: Gateway | null } = { gateway: null };
  const api = openApi({
    store,
    metrics,
    health: () => running.gateway?.health() ?? {},
    token,
    models: toCatalogueChanges(config.now()),
    isEncrypted: settings.tls.certFile !== null,
    keyOf: known.keyOf,
    onProblem: onNotice,
  });
  const gateway = await openChecked(table, {
    env,
    token,
    toKeys: (first) => known.use(toKeys(first)),
    store,
    own: withPage(api),
    ...toForwarding(settings, flags),
    ...(demo && { clockShiftMs: () => demo.clock.now() - Date.now() }),
    onProblem: onNotice,
    onCall: (call) => {
      metrics.observe(call);
      telemetry?.observeCall(call);
      options.onCall?.(call);
    },
    ...onlyPresent({ onExchange: options.onExchange }),
    moreHealth: () => (telemetry === null ? {} : { telemetry: telemetry.state() }),
    tlsFiles: settings.tls,
  }).catch(async (error: unknown) => {
    await api.close();
    await telemetry?.close();
    await simulator?.close();
    throw error;
  });
  running.gateway = gateway;
  metrics.follow(gateway);
  let read = config.now();
  return {
    gateway,
    isSimulated: simulator !== null,
    needsToken: token !== null,
    dashboard: (url) => dashboardAt(url, token === null && settings.keys.size === 0 ? null : api),
    demo,
    keyNames: [...settings.keys.keys()],
    reload: async () => {
      const latest = await config.current();
      if (latest === read) return;
      read = latest;
      const next = toTable();
      refuseLoop(next, gateway.port);
      const keys = toKeys(next);
      gateway.use(next, keys);
      known.use(keys);
      onNotice("the upstreams and keys are those of the changed configuration now");
    },
    close: async (how) => {
      demo?.stop();
      api.endStreams();
      await gateway.close(how === "drained" ? read.gateway.timeouts.drainMs : 0);
      await api.close();
      await telemetry?.close();
      await simulator?.close();
    },
  };
}

/** Both null where real providers are asked. */
async function openSimulator(
  { isDemo, isSimulated }: ServeFlags,
  onNotice: (notice: string) => void,
): Promise<{ readonly demo: Demo | null; readonly simulator: OpenServer | null }> {
  if (!isSimulated) return { demo: null, simulator: null };
  const demo = isDemo ? createDemo(Date.now(), onNotice) : null;
  const model = createAgent();
  const simulator = createSimulator({ model, ...(demo && { clock: demo.clock }) });
  return { demo, simulator: await simulator.listen() };
}

/** How requests are forwarded and kept, by the section gateway of strata.yaml and the words after the command. */
function toForwarding(
  { limits, timeouts, websocket, ...settings }: GatewayConfig,
  flags: ServeFlags,
): Omit<CheckedOptions, "env" | "store" | "tlsFiles" | "toKeys"> {
  const { recordFolder } = flags;
  return {
    websocket,
    optimize: findOptimize(settings.optimize, flags),
    log: recordFolder === null ? null : { folder: recordFolder },
    port: flags.port ?? settings.port,
    host: flags.host ?? settings.host,
    limits: { ...limits, ...timeouts },
    bodyBytesMax: limits.bodyReadBytesMax,
    rewriteMsMax: settings.optimize.waitMs,
    connectMsMax: timeouts.connectMs,
    firstByteMsMax: timeouts.firstByteMs,
  };
}

interface CheckedOptions extends Omit<GatewayOptions, "table" | "tls" | "port" | "keys"> {
  readonly port: number;
  readonly toKeys: (table: UpstreamTable) => GatewayKeys;
  readonly tlsFiles: GatewayConfig["tls"];
}

/** Rejects for everything that is wrong, also for what is seen before anything is opened. */
async function openChecked(
  table: UpstreamTable,
  { tlsFiles, toKeys, ...options }: CheckedOptions,
): Promise<Gateway> {
  refuseLoop(table, options.port);
  return openGateway({ ...options, table, keys: toKeys(table), tls: readTls(tlsFiles) });
}

/** Null for a gateway that only observes. */
function findOptimize(
  configured: GatewayConfig["optimize"],
  { isOptimizing }: ServeFlags,
): GatewayConfig["optimize"] | null {
  const { share } = configured;
  if (share === 0 && !isOptimizing) return null;
  return { ...configured, share: share === 0 ? 100 : share };
}

/** An upstream that is the gateway itself would send each request round for ever. */
function refuseLoop({ upstreams }: UpstreamTable, port: number): void {
  for (const { name, addresses } of upstreams) {
    const isLoop = addresses.some(({ baseUrl }) => {
      const url = new URL(baseUrl);
      return port !== 0 && url.port === String(port) && isLoopback(url.hostname);
    });
    if (!isLoop) continue;
    throw new StrataError(
      "config-invalid",
      `the upstream ${name} is the gateway itself`,
      `give it another address, or let the gateway listen at another port than ${port}`,
    );
  }
}

/** The API, and beside it the page that lives on it. */
export function withPage(api: Api): OwnAnswers {
  const page = openPage();
  return {
    takes: (url) => api.takes(url) || page.takes(url),
    answer: (incoming, outgoing) =>
      (api.takes(incoming.url ?? "") ? api : page).answer(incoming, outgoing),
  };
}

/** The code is in the fragment, which no browser sends anywhere. */
export function dashboardAt(url: string, api: Api | null): string {
  return `${url}/strata/${api === null ? "" : `#code=${api.newLoginCode()}`}`;
}

/** The day of an earlier demo would stand beside the one that is played. */
function forgetDemo(store: string): void {
  for (const end of ["", "-wal", "-shm"]) rmSync(`${store}${end}`, { force: true });
}

/** What the simulator answers costs no money, so it is kept apart. */
export function findStore(env: Io["env"], flags: ServeFlags, configured: string | null): string {
  const { value } = readStore(env, flags.store, configured);
  const isUsual = value === join(readDataDirectory(env).value, "ledger.db");
  if (flags.isDemo) return join(readDataDirectory(env).value, "demo.db");
  return flags.isSimulated && isUsual ? join(dirname(value), simulatedFile) : value;
}

export function readToken(env: Io["env"], file: string | null): string | null {
  const given = env["STRATA_GATEWAY_TOKEN"]?.trim() ?? "";
  if (given !== "") return given;
  if (file === null) return null;
  return readSecretLine(file, "the gateway's token");
}

export function readTls({ certFile, keyFile }: GatewayConfig["tls"]): TlsFiles | null {
  if (certFile === null && keyFile === null) return null;
  if (certFile !== null && keyFile !== null) {
    return {
      cert: readFile(certFile, "the certificate"),
      key: readSecretFile(keyFile, "the certificate's key"),
    };
  }
  throw new StrataError(
    "config-invalid",
    "gateway.tls has one of cert_file and key_file",
    "give both, or neither",
  );
}
