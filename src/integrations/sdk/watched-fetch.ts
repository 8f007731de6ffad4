// A fetch that does for its callers what the gateway does for its clients: calls are marked, explained and recorded.
import { setImmediate } from "node:timers/promises";
import { StrataError } from "../../core/strata-error.ts";
import type { ObservedCall } from "../../gateway/observed-call.ts";
import type { OptimizeSettings } from "../../gateway/optimize/may-mark.ts";
import { watchExchanges } from "../../gateway/forward/watch-exchanges.ts";
import { builtInUpstreams } from "../../gateway/upstreams/built-in.ts";
import { createUpstreamTable, type Upstream } from "../../gateway/upstreams/upstream-table.ts";
import { openCallRecorder, watchCalls } from "../../gateway/watch-calls.ts";
import { sendWatched, type Fetch } from "./send-watched.ts";

export interface WatchedFetchOptions {
  /** The ledger: a path or a connection string. Without it nothing is recorded. */
  readonly store?: string;
  /** Whether calls get our markers where those are expected to cost less than the client's; true by default. */
  readonly optimize?: boolean;
  /** The vendor whose API answers where the client's base URL is not the vendor's own, such as `anthropic`. */
  readonly vendor?: string;
  /** How long a call may wait for its markers, 500 by default; then it is sent as it is. The first calls of a process wait longest. */
  readonly waitMsMax?: number;
  /** Called after each model call. */
  readonly onCall?: (call: ObservedCall) => void;
  /** Called with our own problems; the call goes on without us. By default a process warning. */
  readonly onProblem?: (problem: string) => void;
  /** Milliseconds since 1970; the machine's clock by default. */
  readonly now?: () => number;
}

export interface WatchedFetch extends AsyncDisposable {
  /** The process's own fetch, watched. */
  readonly fetch: Fetch;
  /** Watches another fetch. */
  wrap(fetch: Fetch): Fetch;
  /** Resolves when every call that ended is told, and written or counted as lost. */
  flush(): Promise<void>;
  /** Writes what is left. Later calls are neither marked nor recorded. */
  close(): Promise<void>;
}

/** Every conversation, and nothing but its markers. */
const markEverything: OptimizeSettings = {
  share: 100,
  holdout: 0,
  upstreams: [],
  clients: [],
  logins: false,
  repairs: [],
  diagnose: false,
  fanOutMs: 0,
  keepWarm: { usdPerHour: null, logins: false },
};

const bodyBytesMax = 64 * 1024 * 1024;
/** Only a process that just began, or a conversation that goes on from another one, waits so long. */
const usualWaitMsMax = 500;

/** Opens a fetch whose model calls are marked, explained and, with a store, recorded. Close it. */
export function openWatchedFetch(options: WatchedFetchOptions = {}): WatchedFetch {
  const { store = null, optimize = true, vendor = null, onCall, now = Date.now } = options;
  const { waitMsMax = usualWaitMsMax } = options;
  const { onProblem = warn } = options;
  const table = createUpstreamTable(builtInUpstreams());
  if (vendor !== null && !table.names.has(vendor)) {
    throw new StrataError(
      "input-invalid",
      `no vendor is called ${vendor}`,
      `give one of ${table.upstreams.map(({ name }) => name).join(", ")}`,
    );
  }
  const recorder = store === null ? null : openCallRecorder({ store, onProblem });
  const calls = watchCalls({
    optimize: optimize ? markEverything : null,
    recorder,
    store: store ?? "",
    nowMs: now,
    isVendor: (upstream, protocol) => table.isVendor(upstream, protocol),
    sink: {
      take: (call) => {
        recorder?.take(call);
        onCall?.(call);
      },
    },
    onFault: (error) => watching.noteFault(error),
    onProblem,
  });
  const watching = watchExchanges({
    observer: calls.observer,
    bodyBytesMax,
    rewriteMsMax: waitMsMax,
    onProblem,
  });
  const upstreamOf = findUpstream(table.upstreams, vendor);
  let isClosed = false;
  const wrap = (inner: Fetch): Fetch => {
    const sending = { watching, upstreamOf, now, send: inner };
    return (input, init) => (isClosed ? inner(input, init) : sendWatched(input, init, sending));
  };
  const told = async (): Promise<void> => {
    // An observer is shown what passed after the traffic that is ready.
    await setImmediate();
    await calls.observer.done();
  };
  const close = async (): Promise<void> => {
    isClosed = true;
    await told();
    await calls.close();
  };
  return {
    fetch: wrap((input, init) => globalThis.fetch(input, init)),
    wrap,
    flush: async () => {
      await told();
      await recorder?.flush();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** By its address: a known vendor's name, or the host's. `vendor`: who answers at addresses that are not known. */
function findUpstream(upstreams: readonly Upstream[], vendor: string | null): (url: URL) => string {
  const places = upstreams.flatMap(({ name, addresses }) =>
    addresses.flatMap(({ baseUrl }) => {
      const base = URL.parse(baseUrl);
      return base === null ? [] : [{ name, origin: base.origin, path: trimmed(base.pathname) }];
    }),
  );
  // The longest first: two vendors may share a host.
  const known = places.toSorted((one, other) => other.path.length - one.path.length);
  return ({ origin, pathname, host }) =>
    known.find((each) => each.origin === origin && isBelow(pathname, each.path))?.name ??
    vendor ??
    host;
}

function isBelow(pathname: string, base: string): boolean {
  return pathname === base || pathname.startsWith(`${base}/`);
}

function trimmed(path: string): string {
  return path.replace(/\/+$/, "");
}

function warn(problem: string): void {
  process.emitWarning(problem);
}
