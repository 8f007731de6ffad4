// The gateway: forwards requests, observes model calls, and records what is known of them.
import type { Protocol } from "../core/wire/protocol.ts";
import { createAdmission } from "./admission/admission.ts";
import type { GatewayKeys } from "./admission/gateway-key.ts";
import type { Observer } from "./exchange.ts";
import type { ObservedCall } from "./observed-call.ts";
import type { OptimizeSettings } from "./optimize/may-mark.ts";
import type { Keeping } from "./optimize/keep-conversations.ts";
import {
  openForwarder,
  usualForwarding,
  type Forwarder,
  type ForwarderOptions,
} from "./open-forwarder.ts";
import { observeBoth } from "./record/log-requests.ts";
import type { Recorder, RecorderOptions, RecorderStats } from "./record/open-recorder.ts";
import { shiftClock } from "./shift-clock.ts";
import { openKeeping, warmHealth } from "./warm/open-keeping.ts";
import { openCallRecorder, watchCalls, type CallWatch } from "./watch-calls.ts";

export interface GatewayOptions extends Omit<ForwarderOptions, "observer" | "admission"> {
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
  const recorder = openCallRecorder({ store, spending: admission.spending, log, onProblem });
  const isVendor = (upstream: string, protocol: Protocol): boolean =>
    table.isVendor(upstream, protocol);
  const take = (seen: ObservedCall): void => {
    const call = admission.name(seen);
    recorder.take(call);
    onCall(call);
  };
  const onFault = (error: unknown): void => forwarder.noteFault(error);
  const keeping = openKeeping(optimize, recorder, { onWarmed: take, onFault });
  const keeper = keeping?.keeper ?? null;
  const nowMs = (): number => Date.now() + (clockShiftMs?.() ?? 0);
  const sink = {
    take: (call: ObservedCall) => {
      take(call);
      keeper?.saw(call);
    },
  };
  const parts = { optimize, keeping, recorder, store, nowMs, isVendor, sink };
  const watch = watchCalls({ ...parts, onProblem });
  const { observer: calls, optimizer, share } = watch;
  const observer = observerOf(calls, recorder, clockShiftMs);
  if (!(await admission.isReadIn(spendingMsMax))) {
    onProblem("what keys have spent cannot be read: budgets count from zero until it can");
  }
  const forwarder = await openForwarder({
    ...options,
    admission,
    observer,
    moreHealth: () => ({
      ...healthOf({ calls, optimizer, keeping, recorder, share }),
      ...options.moreHealth?.(),
    }),
    mayResend: keeper !== null,
  }).catch(async (error: unknown) => {
    await watch.close();
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
      await watch.close();
    },
  };
}

/** Whole exchanges are seen, too, where requests are logged. */
function observerOf(
  calls: Observer,
  { requests }: Pick<Recorder, "requests">,
  clockShiftMs: GatewayOptions["clockShiftMs"],
): Observer {
  const both = requests === null ? calls : observeBoth(calls, requests);
  return clockShiftMs === undefined ? both : shiftClock(both, clockShiftMs);
}

interface HealthParts extends Pick<CallWatch, "optimizer" | "share"> {
  readonly calls: CallWatch["observer"];
  readonly keeping: Keeping | null;
  readonly recorder: Recorder;
}

/** What each part says of itself, where it is there. */
function healthOf({
  calls,
  optimizer,
  keeping,
  recorder,
  share,
}: HealthParts): Readonly<Record<string, unknown>> {
  return {
    calls: calls.state(),
    ...(optimizer === null ? {} : { optimize: optimizer.counts() }),
    ...(keeping === null ? {} : { keepWarm: warmHealth(keeping.keeper.counts()) }),
    ledger: recorder.stats(),
    ...(share === null ? {} : { shared: share.counts() }),
  };
}
