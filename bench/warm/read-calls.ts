// The calls of one recording in order of time, each with its model and whether the session waits after it.
import type { TextCounter } from "../../src/core/tokens/o200k/counter.ts";
import type { ModelFacts } from "../../src/core/models/model-facts.ts";
import { createAnchor, type Anchor } from "../../src/replay/anchor-sizes.ts";
import { tokenizerOf } from "../../src/replay/readers/block-draft.ts";
import { readRecordings } from "../../src/replay/readers/read-recordings.ts";
import type { RecordedRequest, RecordedSession } from "../../src/replay/recording.ts";
import { createModelLookup } from "../../src/replay/replay-model.ts";

export interface RecordedCall {
  readonly request: RecordedRequest;
  readonly model: ModelFacts;
  readonly startMs: number;
  readonly endMs: number;
  /** Whether its reply ended a turn of the main thread: tools that run keep a session busy. */
  readonly waits: boolean;
}

export async function readCalls(
  file: string,
  counter: TextCounter,
): Promise<readonly RecordedCall[]> {
  const lookUp = createModelLookup(null);
  const anchors = new Map<string, Anchor>();
  const lastMs = new Map<string, number>();
  const calls: Omit<RecordedCall, "waits">[] = [];
  let session: RecordedSession | null = null;
  for await (const recorded of readRecordings([file], { counter })) {
    if (recorded.type === "session") ({ session } = recorded);
    if (recorded.type !== "request" || session === null) continue;
    const { thread, model } = recorded.request;
    const anchor = anchors.get(thread) ?? createAnchor(thread);
    anchors.set(thread, anchor);
    const { request } = anchor(recorded.request, tokenizerOf(model));
    if (request.startMs === null) continue;
    // Recorded clocks sometimes go back; the order within a thread is reliable.
    const startMs = Math.max(lastMs.get(thread) ?? -Infinity, epochOf(request.startMs));
    lastMs.set(thread, startMs);
    const tookMs = Math.max(0, (request.endMs ?? 0) - request.startMs);
    const { facts } = lookUp(session, request);
    calls.push({ request, model: facts, startMs, endMs: startMs + tookMs });
  }
  return withWaits(calls.toSorted((left, right) => left.startMs - right.startMs));
}

/** Times relative to the start of a recording move to a day that has prices. */
function epochOf(ms: number): number {
  return ms < 1_000_000_000_000 ? ms + 1_800_000_000_000 : ms;
}

/** A reply that used tools shows in the next request, which brings their results. The last one counts as an end. */
function withWaits(calls: readonly Omit<RecordedCall, "waits">[]): readonly RecordedCall[] {
  const later = new Map<string, RecordedRequest>();
  return calls
    .toReversed()
    .map((call) => {
      const { thread } = call.request;
      const next = later.get(thread);
      later.set(thread, call.request);
      const usedTools = next?.append.some(({ kind }) => kind === "tool_result") === true;
      return { ...call, waits: thread === "" && !usedTools };
    })
    .toReversed();
}
