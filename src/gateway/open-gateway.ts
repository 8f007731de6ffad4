// The gateway: forwards requests, observes model calls, and records what is known of them.
import { builtInCatalogue } from "../core/models/catalogue.ts";
import type { Protocol } from "../core/wire/protocol.ts";
import { createObserver } from "./observe/observer.ts";
import type { ObservedCall } from "./observed-call.ts";
import type { OptimizeSettings } from "./optimize/may-mark.ts";
import { createOptimizer } from "./optimize/optimizer.ts";
import { openForwarder, type Forwarder, type ForwarderOptions } from "./open-forwarder.ts";
import { observeBoth } from "./record/log-requests.ts";
import { openRecorder, type RecorderOptions, type RecorderStats } from "./record/open-recorder.ts";
import { describeLoss } from "./record/recording-loss.ts";
import type { UpstreamTable } from "./upstreams/upstream-table.ts";

export interface GatewayOptions extends Omit<ForwarderOptions, "observer" | "moreHealth"> {
  /** The ledger: a path or a connection string. */
  readonly store: string;
  /** Where requests and answers are kept whole; null for nowhere. */
  readonly log?: RecorderOptions["log"];
  /** Which conversations are sent with our markers; null for none. */
  readonly optimize?: OptimizeSettings | null;
  /** Called after each model call. */
  readonly onCall?: (call: ObservedCall) => void;
}

export interface Gateway extends Forwarder {
  stats(): RecorderStats;
}

export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const { store, log = null, optimize = null, onCall = () => {}, onProblem = () => {} } = options;
  let { table } = options;
  const recorder = openRecorder({
    store,
    log,
    onProblem,
    onLoss: (loss) => onProblem(describeLoss(loss)),
  });
  const isVendor = (upstream: string, protocol: Protocol): boolean =>
    table.isVendor(upstream, protocol);
  const optimizer =
    optimize === null
      ? null
      : createOptimizer({ settings: optimize, catalogue: builtInCatalogue, isVendor });
  const calls = createObserver({
    rewriter: optimizer,
    nowMs: Date.now,
    isVendor,
    sink: {
      take: (call) => {
        recorder.take(call);
        onCall(call);
      },
    },
  });
  const { requests } = recorder;
  const observer = requests === null ? calls : observeBoth(calls, requests);
  const moreHealth = (): Readonly<Record<string, unknown>> => ({
    calls: calls.state(),
    ...(optimizer === null ? {} : { optimize: optimizer.counts() }),
    ledger: recorder.stats(),
  });
  const forwarder = await openForwarder({ ...options, observer, moreHealth }).catch(
    async (error: unknown) => {
      await recorder.close();
      throw error;
    },
  );
  return {
    ...forwarder,
    use: (next: UpstreamTable) => {
      table = next;
      forwarder.use(next);
    },
    stats: () => recorder.stats(),
    close: async (drainMs) => {
      await forwarder.close(drainMs);
      await recorder.close();
    },
  };
}
