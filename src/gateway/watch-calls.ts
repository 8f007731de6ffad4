// What stands beside the traffic: an observer that explains calls, an optimizer that marks them, and a writer that records them.
import { builtInCatalogue } from "../core/models/catalogue.ts";
import type { Protocol } from "../core/wire/protocol.ts";
import { isConnectionString } from "../edge/stores/open-ledger.ts";
import { createObserver, usualObserveLimits, type CallObserver } from "./observe/observer.ts";
import type { CallSink } from "./observed-call.ts";
import type { Keeping } from "./optimize/keep-conversations.ts";
import type { OptimizeSettings } from "./optimize/may-mark.ts";
import { createOptimizer, type Optimizer } from "./optimize/optimizer.ts";
import { openRecorder, type Recorder, type RecorderOptions } from "./record/open-recorder.ts";
import { describeLoss } from "./record/recording-loss.ts";
import { openShare, type Share } from "./share/open-share.ts";

export interface WatchCallsOptions {
  /** Null if calls are only observed. */
  readonly optimize: OptimizeSettings | null;
  /** Null if the gateway sends no calls of its own. */
  readonly keeping?: Keeping | null;
  /** Null if nothing is recorded. */
  readonly recorder: Recorder | null;
  /** Where it records. */
  readonly store: string;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  readonly isVendor: (upstream: string, protocol: Protocol) => boolean;
  /** Is given each call. */
  readonly sink: CallSink;
  /** Called for a fault after the end of an exchange. */
  readonly onFault?: (error: unknown) => void;
  readonly onProblem: (problem: string) => void;
}

export interface CallWatch {
  readonly observer: CallObserver;
  /** Null if calls are only observed. */
  readonly optimizer: Optimizer | null;
  /** Null if nothing is recorded: then only this process knows its conversations. */
  readonly share: Share | null;
  /** Writes what is left, in the order in which one part leaves something to the next. */
  close(): Promise<void>;
}

export function watchCalls(options: WatchCallsOptions): CallWatch {
  const { optimize, keeping = null, recorder, isVendor, nowMs, sink, onFault } = options;
  const parts = { catalogue: builtInCatalogue, isVendor, keeping };
  const optimizer = optimize && createOptimizer({ settings: optimize, ...parts });
  const share = recorder && shareConversations(recorder, optimizer, options);
  const observer = createObserver({
    rewriter: optimizer,
    nowMs,
    share,
    isVendor,
    sink,
    ...(onFault && { onFault }),
  });
  return {
    observer,
    optimizer,
    share,
    close: async () => {
      // Calls that ended may still wait for what other gateways know.
      await observer.done();
      await share?.close();
      await recorder?.close();
    },
  };
}

/** The writer of the ledger, which says what it lost. */
export function openCallRecorder(
  options: Omit<RecorderOptions, "onLoss" | "onProblem"> & Pick<WatchCallsOptions, "onProblem">,
): Recorder {
  return openRecorder({ ...options, onLoss: (loss) => options.onProblem(describeLoss(loss)) });
}

/** With other gateways on a server; in a file, with this one after a restart. */
function shareConversations(
  recorder: Recorder,
  rewriter: Optimizer | null,
  { store, nowMs, onProblem }: WatchCallsOptions,
): Share {
  return openShare({
    askStates: (task) => recorder.askStates(task),
    isShared: isConnectionString(store),
    catalogue: builtInCatalogue,
    idleMsMax: usualObserveLimits.idleMsMax,
    rewriter,
    nowMs,
    onProblem,
  });
}
