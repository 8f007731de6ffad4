// The gateway: forwards requests, observes model calls, and records what is known of them.
import { builtInCatalogue } from "../core/models/catalogue.ts";
import { formatUsd } from "../core/models/pico-usd.ts";
import type { Protocol } from "../core/wire/protocol.ts";
import { isConnectionString } from "../edge/stores/open-ledger.ts";
import { createAdmission } from "./admission/admission.ts";
import type { GatewayKeys } from "./admission/gateway-key.ts";
import type { CallRewriter } from "./observe/call-rewriter.ts";
import { createObserver, usualObserveLimits, type CallObserver } from "./observe/observer.ts";
import type { ObservedCall } from "./observed-call.ts";
import type { OptimizeSettings } from "./optimize/may-mark.ts";
import type { Keeping } from "./optimize/keep-conversations.ts";
import { createOptimizer } from "./optimize/optimizer.ts";
import {
  openForwarder,
  usualForwarding,
  type Forwarder,
  type ForwarderOptions,
} from "./open-forwarder.ts";
import { observeBoth } from "./record/log-requests.ts";
import {
  openRecorder,
  type Recorder,
  type RecorderOptions,
  type RecorderStats,
} from "./record/open-recorder.ts";
import { describeLoss } from "./record/recording-loss.ts";
import { openShare, type Share } from "./share/open-share.ts";
import { shiftClock } from "./shift-clock.ts";
import { createWarmKeeper, type WarmCounts, type WarmKeeperOptions } from "./warm/warm-keeper.ts";

export interface GatewayOptions extends Omit<
  ForwarderOptions,
  "observer" | "moreHealth" | "admission"
> {
  /** The ledger: a path or a connection string. */
  readonly store: string;
  /** Where requests and answers are kept whole; null for nowhere. */
  readonly log?: RecorderOptions["log"];
  /** Which conversations are sent with our markers; null for none. */
  readonly optimize?: OptimizeSettings | null;
  /** What is added to the machine's time, for a demo; nothing by default. */
  readonly clockShiftMs?: () => number;
  /** The gateway's own keys, and the upstreams' keys that are sent in their place. Without any, clients bring their own. */
  readonly keys?: GatewayKeys;
  /** Called after each model call. */
  readonly onCall?: (call: ObservedCall) => void;
}

export interface Gateway extends Forwarder {
  stats(): RecorderStats;
}

/** How long a start waits for the ledger, where keys have budgets. */
const spendingMsMax = 5000;

export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const { store, log = null, optimize = null, onCall = () => {}, onProblem = () => {} } = options;
  const { clockShiftMs } = options;
  let { table } = options;
  const admission = createAdmission({
    keys: options.keys ?? { keys: [], upstreamKeys: new Map() },
    bodyBytesMax: options.bodyBytesMax ?? usualForwarding.bodyBytesMax,
  });
  const recorder = openRecorder({
    store,
    spending: admission.spending,
    log,
    onProblem,
    onLoss: (loss) => onProblem(describeLoss(loss)),
  });
  const isVendor = (upstream: string, protocol: Protocol): boolean =>
    table.isVendor(upstream, protocol);
  const take = (seen: ObservedCall): void => {
    const call = admission.name(seen);
    recorder.take(call);
    onCall(call);
  };
  const onFault = (error: unknown): void => forwarder.noteFault(error);
  const keeping = optimize && openKeeping(optimize, { onWarmed: take, onFault });
  const keeper = keeping?.keeper ?? null;
  const parts = { catalogue: builtInCatalogue, isVendor, keeping };
  const optimizer = optimize && createOptimizer({ settings: optimize, ...parts });
  const nowMs = (): number => Date.now() + (clockShiftMs?.() ?? 0);
  const sharing = { recorder, rewriter: optimizer, nowMs, onProblem };
  const share = shareConversations(store, sharing);
  const calls = createObserver({
    rewriter: optimizer,
    nowMs,
    share,
    isVendor,
    sink: {
      take: (call) => {
        take(call);
        keeper?.saw(call);
      },
    },
  });
  const { requests } = recorder;
  const both = requests === null ? calls : observeBoth(calls, requests);
  const observer = clockShiftMs === undefined ? both : shiftClock(both, clockShiftMs);
  const moreHealth = (): Readonly<Record<string, unknown>> => ({
    calls: calls.state(),
    ...(optimizer === null ? {} : { optimize: optimizer.counts() }),
    ...(keeper === null ? {} : { keepWarm: toTold(keeper.counts()) }),
    ledger: recorder.stats(),
    shared: share.counts(),
  });
  if (!(await admission.isReadIn(spendingMsMax))) {
    onProblem("what keys have spent cannot be read: budgets count from zero until it can");
  }
  const forwarder = await openForwarder({
    ...options,
    admission,
    observer,
    moreHealth,
    mayResend: keeper !== null,
  }).catch(async (error: unknown) => {
    await closeLedger({ calls, share, recorder });
    throw error;
  });
  return {
    ...forwarder,
    use: (next, keys) => {
      forwarder.use(next, keys);
      table = next;
    },
    stats: () => recorder.stats(),
    close: async (drainMs) => {
      keeper?.close();
      await forwarder.close(drainMs);
      await closeLedger({ calls, share, recorder });
    },
  };
}

interface SharingParts {
  readonly recorder: Recorder;
  readonly rewriter: CallRewriter | null;
  readonly nowMs: () => number;
  readonly onProblem: (problem: string) => void;
}

/** With other gateways on a server; in a file, with this one after a restart. */
function shareConversations(store: string, { recorder, ...parts }: SharingParts): Share {
  return openShare({
    askStates: (task) => recorder.askStates(task),
    isShared: isConnectionString(store),
    catalogue: builtInCatalogue,
    idleMsMax: usualObserveLimits.idleMsMax,
    ...parts,
  });
}

interface LedgerUsers {
  readonly calls: CallObserver;
  readonly share: Share;
  readonly recorder: Recorder;
}

/** In the order in which one leaves something to the next. */
async function closeLedger({ calls, share, recorder }: LedgerUsers): Promise<void> {
  // Calls that ended may still wait for what other gateways know.
  await calls.done();
  await share.close();
  await recorder.close();
}

/** Null if no calls of our own are wanted. */
function openKeeping(
  { keepWarm: { usdPerHour, logins } }: OptimizeSettings,
  told: Pick<WarmKeeperOptions, "onWarmed" | "onFault">,
): Keeping | null {
  if (usdPerHour === null) return null;
  const settings = { usdPerHour, logins };
  return { settings, keeper: createWarmKeeper({ settings, nowMs: Date.now, ...told }) };
}

/** JSON has no such numbers. */
function toTold({ spentPicoUsd, ...counts }: WarmCounts): Readonly<Record<string, unknown>> {
  return { ...counts, spentUsd: formatUsd(spentPicoUsd) };
}
