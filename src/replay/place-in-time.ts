// The requests of a workspace with time, model and billed size, in order of time.
import { createAnchor, type Anchor } from "./anchor-sizes.ts";
import { countUp, leaveOut, type Books } from "./books.ts";
import { openExplainer } from "./explain/explain-workspace.ts";
import type { ExplainedCall } from "./explain/explained-call.ts";
import { inferTotals, type SizedRequest } from "./infer-totals.ts";
import { tokenizerOf } from "./readers/block-draft.ts";
import type { RecordedRequest, RecordedSession } from "./recording.ts";
import { createModelLookup } from "./replay-model.ts";
import type { TimedRequest } from "./policy-run.ts";

/** Sessions that share what the provider keeps, and their requests as recorded. */
export interface Gathered {
  readonly name: string;
  readonly sessions: Map<string, RecordedSession>;
  readonly requests: { readonly sessionId: string; readonly request: RecordedRequest }[];
}

export interface Placed extends TimedRequest {
  readonly session: RecordedSession;
  /** Whether it is the first request of its session. */
  readonly isFirst: boolean;
  /** Whether its reads can be compared: its own model, a known protocol, not the first request of its thread. */
  readonly isComparable: boolean;
  /** What its bill says; null where there is none. */
  explained: ExplainedCall | null;
}

/** Takes the requests out of the workspace. Skipped requests and replaced models are counted. */
export function placeInTime({ requests, sessions }: Gathered, books: Books): Placed[] {
  const lookUp = createModelLookup(books.options.model, books.options.catalogue);
  const explain = openExplaining(requests, books);
  const inferred = inferTotals(requests.map(toSized));
  const anchors = new Map<string, Anchor>();
  const lastMs = new Map<string, number>();
  const seen = new Set<string>();
  const placed: Placed[] = [];
  for (const { sessionId, request: asCounted } of drain(requests)) {
    const session = sessions.get(sessionId);
    if (session === undefined) continue;
    const owner = explain.add(session, asCounted);
    const thread = `${sessionId} ${asCounted.thread}`;
    const anchor = anchors.get(thread) ?? createAnchor(thread);
    anchors.set(thread, anchor);
    const { request, hiddenTokens } = anchor(
      asCounted,
      tokenizerOf(asCounted.model),
      inferred.get(asCounted),
    );
    books.reads.addRequest(session, asCounted.thread, hiddenTokens);
    if (request.startMs === null) {
      leaveOut(books, session, "request without a time");
      continue;
    }
    const { facts, standsInFor } = lookUp(session, request);
    if (standsInFor !== null) {
      countUp(books.sums.standIns, `${facts.id} stands in for ${standsInFor}`);
    }
    // Recorded clocks sometimes go back; the order within a thread is reliable.
    const startMs = Math.max(lastMs.get(thread) ?? -Infinity, epochOf(request.startMs));
    const isComparable = lastMs.has(thread) && standsInFor === null && session.wire !== null;
    lastMs.set(thread, startMs);
    const isFirst = !seen.has(sessionId);
    seen.add(sessionId);
    const isMain = request.thread === "";
    const timed = { request: { ...request, thread }, startMs, model: facts, isMain };
    const each = { ...timed, session, isFirst, isComparable, explained: null };
    placed.push(each);
    owner?.(each);
  }
  explain.end();
  return placed.toSorted((left, right) => left.startMs - right.startMs);
}

function toSized({ sessionId, request }: Gathered["requests"][number]): SizedRequest {
  const thread = `${sessionId} ${request.thread}`;
  return { thread, request, tokenizer: tokenizerOf(request.model) };
}

/** Explains every call with a bill by its recorded model. */
function openExplaining(
  requests: Gathered["requests"],
  { options }: Books,
): {
  add(session: RecordedSession, request: RecordedRequest): ((placed: Placed) => void) | null;
  end(): void;
} {
  if (requests.every(({ request }) => request.usage === null)) {
    return { add: () => null, end: () => undefined };
  }
  const explainer = openExplainer();
  const lookUp = createModelLookup(null, options.catalogue);
  const owners: { placed: Placed | null }[] = [];
  return {
    add(session, request) {
      explainer.add(session, request, lookUp(session, request).facts);
      if (request.usage === null) return null;
      const owner: { placed: Placed | null } = { placed: null };
      owners.push(owner);
      return (placed) => void (owner.placed = placed);
    },
    end() {
      for (const [place, call] of explainer.take("all").entries()) {
        const placed = owners[place]?.placed;
        if (placed != null) placed.explained = call;
      }
    },
  };
}

/** Times relative to the start of a recording move to a day that has prices. */
function epochOf(ms: number): number {
  return ms < 1_000_000_000_000 ? ms + 1_800_000_000_000 : ms;
}

/** Removes items as it yields them, so that a long session is not in memory twice. */
export function* drain<Item>(items: Item[]): Generator<Item> {
  items.reverse();
  for (let item = items.pop(); item !== undefined; item = items.pop()) yield item;
}
