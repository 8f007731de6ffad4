// Compares the simulator's billing with the naive one, step by step on the same events.
import type { Bill, EntryView } from "../../src/simulator/billing/bill.ts";
import type { BillableRequest } from "../../src/simulator/billing/billable-request.ts";
import { createBilling } from "../../src/simulator/billing/billing.ts";
import { stingyBilling, type BillingOptions } from "../../src/simulator/billing/options.ts";
import {
  createNaiveBilling,
  type NaiveBill,
  type NaiveBilling,
  type NaiveEntry,
} from "./naive-billing.ts";
import { isStored, storedLines, type StorageAct } from "./naive-storage.ts";
import { createRandom, type Random } from "../random-message.ts";
import { randomStream, type BillingEvent } from "../random/random-requests.ts";

/** One of the two billings. */
export interface Contestant {
  open(request: BillableRequest): {
    readonly compared: Omit<Compared, "live">;
    begin(): void;
    end(atMs: number): void;
    abandon(): void;
  };
  /** Stores a prefix, keeps it for another time or removes it; tells what that changed. */
  act(act: StorageAct): string;
  live(nowMs: number): readonly string[];
}

/** The values that must be equal. */
interface Compared {
  readonly buckets: Readonly<Record<string, number>>;
  readonly hitBlock: number | null;
  readonly isHit: boolean;
  readonly markers: readonly string[];
  /** Live entries after the request was opened; later bills depend on them. */
  readonly live: readonly string[];
}

/** The first request with different results, and both results. */
interface Disagreement {
  readonly id: string;
  readonly first: Compared | string;
  readonly second: Compared | string;
}

/** An intentional error in billing, to prove that the comparison finds it. */
export interface Flaw {
  /** Changes the request before billing. */
  readonly misread?: (request: BillableRequest) => BillableRequest;
  /** Changes the log after each request. */
  readonly spoil?: (billing: NaiveBilling) => void;
}

type Options = Partial<BillingOptions>;

interface Comparison {
  readonly steps: number;
  readonly hits: number;
  /** Streams that ended with a disagreement; the rest of them is not compared. */
  readonly disagreements: number;
  /** The shortest explained disagreement. */
  readonly shortestLog: string | null;
}

// Shrinking takes long, and a few disagreements are enough to find a short one.
const logsMax = 20;

/** Compares streams, each with its own seed. */
export function compareStreams(work: {
  readonly seed: number;
  readonly streams: number;
  readonly requests: number;
  readonly optionsOf: (random: Random) => Options;
  /** Whether a stream is of models that are kept without markers, or have several hosts. */
  readonly keeps?: (stream: number) => boolean;
  readonly onStream?: (streams: number, disagreements: number) => void;
}): Comparison {
  const logs: string[] = [];
  let disagreements = 0;
  let steps = 0;
  let hits = 0;
  for (let index = 0; index < work.streams; index += 1) {
    const random = createRandom(work.seed + index * 7919);
    const options = work.optionsOf(random);
    const events = randomStream(random, {
      requests: work.requests,
      graceMs: options.graceMs ?? 0,
      keeps: work.keeps?.(index) ?? false,
    });
    const real = counting(realContestant(options), (isHit) => {
      steps += 1;
      hits += isHit ? 1 : 0;
    });
    if (findDisagreement(events, real, naiveContestant(options)) !== null) {
      disagreements += 1;
      if (logs.length < logsMax) logs.push(explain(events, options));
    }
    work.onStream?.(index + 1, disagreements);
  }
  logs.sort((left, right) => left.length - right.length);
  return { steps, hits, disagreements, shortestLog: logs[0] ?? null };
}

/** The first request billed differently; null if all bills agree. */
export function findDisagreement(
  events: readonly BillingEvent[],
  first: Contestant,
  second: Contestant,
): Disagreement | null {
  const opened = new Map<string, ReturnType<Contestant["open"]>[]>();
  for (const event of events) {
    if (event.kind === "open") {
      const { startMs } = event.request;
      const both = [first.open(event.request), second.open(event.request)] as const;
      opened.set(event.id, [...both]);
      const disagreement: Disagreement = {
        id: event.id,
        first: { ...both[0].compared, live: first.live(startMs) },
        second: { ...both[1].compared, live: second.live(startMs) },
      };
      if (JSON.stringify(disagreement.first) !== JSON.stringify(disagreement.second)) {
        return disagreement;
      }
    } else if (event.kind === "storage") {
      const [one, other] = [first.act(event.act), second.act(event.act)];
      if (one !== other) return { id: event.id, first: one, second: other };
    } else {
      for (const each of opened.get(event.id) ?? []) {
        if (event.kind === "begin") each.begin();
        else if (event.kind === "end") each.end(event.atMs);
        else each.abandon();
      }
    }
  }
  return null;
}

/** The simulator's own billing. */
export function realContestant(options: Options): Contestant {
  const billing = createBilling(options);
  return {
    open(request) {
      const open = billing.open(request);
      return {
        compared: toCompared(open.bill, open.bill.hitBlock !== null),
        begin: () => open.begin(),
        end: (atMs) => open.end(atMs),
        abandon: () => open.abandon(),
      };
    },
    act(act) {
      const { stored } = billing;
      switch (act.kind) {
        case "store": {
          const { bill } = stored.add(act.prefix);
          return `stored for ${bill.uncachedTokens} of ${bill.totalTokens}`;
        }
        case "keep":
          return `kept: ${stored.keepUntil(act.name, act.expiresMs, act.atMs)}`;
        case "remove":
          return `removed: ${stored.remove(act.name, act.atMs)}`;
      }
    },
    live(nowMs) {
      const live = billing
        .entries(nowMs)
        .filter(({ lifetime }) => lifetime !== null)
        .filter(({ state }) => state === "live");
      const stored = billing.stored.views(nowMs).map(({ name, tokens, state, costUsd }) => {
        return `stored ${name} ${tokens} ${state} ${costUsd ?? "no price"}`;
      });
      return [...live.map(toLine), ...stored].toSorted();
    },
  };
}

/** The naive billing, with a flaw if a test asks for one. */
export function naiveContestant(options: Options, flaw: Flaw = {}): Contestant {
  const billing = createNaiveBilling({ ...stingyBilling, ...options });
  return {
    open(request) {
      const open = billing.open(flaw.misread?.(request) ?? request);
      flaw.spoil?.(billing);
      return { ...open, compared: toCompared(open.bill, open.bill.hitBlock !== null) };
    },
    act(act) {
      const wasThere = act.kind !== "store" && isStored(billing.acts, act.name, act.atMs);
      billing.acts.push(act);
      if (act.kind !== "store") return `${act.kind === "keep" ? "kept" : "removed"}: ${wasThere}`;
      const tokens = act.prefix.blocks.reduce((sum, block) => sum + block.tokens, 0);
      return `stored for ${tokens} of ${tokens}`;
    },
    live: (nowMs) =>
      [...billing.live(nowMs).map(toLine), ...storedLines(billing.acts, nowMs)].toSorted(),
  };
}

/** Random options, mostly with one or two non-default values. */
export function randomOptions(random: Random): Options {
  const rarely = <Value>(value: Value, otherwise: Value): Value =>
    random() < 0.25 ? value : otherwise;
  return {
    clock: rarely("response end", "request start"),
    graceMs: rarely(10_000, 0),
    markerBeforeHit: rarely("writes", "refreshes only"),
    crossLifetime: rarely("not found", "found"),
    entryInsideRun: rarely("only at the run's end", "at the run's position"),
    toolDefinitions: rarely("one position", "positions"),
    toolRuns: rarely("every block", "by route"),
    entryLives: rarely("as its shortest part", "as its marker says"),
    unpublishedBoundary: rarely("nothing", "any prefix"),
    unpublishedSeconds: rarely(3_600, 300),
    unpublishedMinimumTokens: rarely(1_024, 4_096),
  };
}

function counting(contestant: Contestant, onOpen: (isHit: boolean) => void): Contestant {
  return {
    open(request) {
      const open = contestant.open(request);
      onOpen(open.compared.isHit);
      return open;
    },
    act: (act) => contestant.act(act),
    live: (nowMs) => contestant.live(nowMs),
  };
}

/** A minimal list of events with different results, and the difference. */
function explain(events: readonly BillingEvent[], options: Options): string {
  const find = (some: readonly BillingEvent[]): Disagreement | null =>
    findDisagreement(some, realContestant(options), naiveContestant(options));
  const few = shrink(events, (some) => find(some) !== null);
  const difference = find(few);
  return [
    `with ${JSON.stringify(options)}`,
    describeEvents(few),
    `${difference?.id} differs`,
    `real  ${JSON.stringify(difference?.first)}`,
    `naive ${JSON.stringify(difference?.second)}`,
  ].join("\n");
}

/** Removes every request, then every other event, that the difference does not need. */
function shrink(
  events: readonly BillingEvent[],
  differ: (events: readonly BillingEvent[]) => boolean,
): readonly BillingEvent[] {
  let kept = events;
  for (const id of new Set(events.map((event) => event.id).toReversed())) {
    const fewer = kept.filter((event) => event.id !== id);
    if (differ(fewer)) kept = fewer;
  }
  for (const event of kept.toReversed()) {
    const fewer = kept.filter((each) => each !== event);
    if (event.kind !== "open" && differ(fewer)) kept = fewer;
  }
  return kept;
}

function toCompared(bill: Bill | NaiveBill, isHit: boolean): Omit<Compared, "live"> {
  const { totalTokens, readTokens, uncachedTokens, hitBlock, markers } = bill;
  const writes = Object.entries(bill.writeTokens)
    .filter(([, tokens]) => tokens !== 0)
    .toSorted(([left], [right]) => (left < right ? -1 : 1));
  return {
    buckets: { totalTokens, readTokens, uncachedTokens, ...Object.fromEntries(writes) },
    hitBlock,
    isHit,
    markers: markers
      .toSorted((left, right) => left.block - right.block)
      .map((marker) =>
        [marker.block, marker.lifetime, marker.origin, marker.tokens, marker.outcome].join(" "),
      ),
  };
}

function toLine({ lifetime, tokens, expiresMs }: EntryView | NaiveEntry): string {
  return `${lifetime} ${tokens} until ${expiresMs}`;
}

function describeEvents(events: readonly BillingEvent[]): string {
  const zeroMs = events.find((event) => event.kind === "open")?.request.startMs ?? 0;
  return events.map((event) => describeEvent(event, zeroMs)).join("\n");
}

function describeEvent(event: BillingEvent, zeroMs: number): string {
  if (event.kind === "end") return `${event.id} ends at ${event.atMs - zeroMs} ms`;
  if (event.kind === "storage") return describeAct(event.act, zeroMs);
  if (event.kind !== "open") return `${event.id} ${event.kind}s`;
  const { workspace, host, model, blocks, markers, mode, implicitLifetime, settings, startMs } =
    event.request;
  const places = markers.map(({ block, lifetime, origin }) => `${block}:${lifetime}:${origin}`);
  const pieces = blocks.map(({ hash, tokens, tier, run, boundary }, index) =>
    [`[${index}]`, hash, `${tokens}t`, tier, run, boundary].filter((part) => part !== null),
  );
  return [
    `${event.id} at ${startMs - zeroMs} ms: ${model.id} on ${model.route}, ${workspace}, ${host ?? ""} ${event.request.keeping?.boundary ?? ""}, ${mode} ${implicitLifetime ?? ""} ${event.request.stored ?? ""}`,
    `  settings ${JSON.stringify(settings)}`,
    `  markers ${places.join(" ")}`,
    `  blocks ${pieces.map((piece) => piece.join(" ")).join(", ")}`,
  ].join("\n");
}

function describeAct(act: StorageAct, zeroMs: number): string {
  if (act.kind === "remove") return `removes ${act.name} at ${act.atMs - zeroMs} ms`;
  if (act.kind === "keep") {
    return `keeps ${act.name} until ${act.expiresMs - zeroMs} ms, at ${act.atMs - zeroMs} ms`;
  }
  const { name, workspace, model, blocks, startMs, expiresMs } = act.prefix;
  const place = `${model.id} on ${model.route}, ${workspace}`;
  return `stores ${blocks.length} blocks as ${name} at ${startMs - zeroMs} ms until ${expiresMs - zeroMs} ms: ${place}`;
}
