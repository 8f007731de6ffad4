// Recorded sessions, billed by the simulator, with an eviction or a change that the recording does not show.
import type { MissCause } from "../../src/core/diagnosis/explanation.ts";
import { hashContent } from "../../src/core/hash.ts";
import { noUsage, type Lifetime, type Usage } from "../../src/core/message/usage.ts";
import type { CacheRules } from "../../src/core/models/cache-rules.ts";
import type { ModelFacts } from "../../src/core/models/model-facts.ts";
import { explainRecordings } from "../../src/replay/explain/explain-recording.ts";
import type { ExplainedCall } from "../../src/replay/explain/explained-call.ts";
import type {
  Recorded,
  RecordedBlock,
  RecordedRequest,
  RecordedSession,
} from "../../src/replay/recording.ts";
import { cacheModeOf, usualMarkers, writtenLifetime } from "../../src/replay/recorded-request.ts";
import { createModelLookup } from "../../src/replay/replay-model.ts";
import { createReplayThread, type ReplayThread } from "../../src/replay/replay-thread.ts";
import { createBilling, type Billing } from "../../src/simulator/index.ts";
import type { Random } from "../random-message.ts";
import { wholeBetween } from "../random/random-talk.ts";

/** The calls of a session's main thread. All have a time and a model that the simulator can bill. */
export interface RecordedTalk {
  readonly session: RecordedSession;
  readonly requests: readonly RecordedRequest[];
}

export async function readTalks(recordings: AsyncIterable<Recorded>): Promise<RecordedTalk[]> {
  const talks = new Map<string, { session: RecordedSession; requests: RecordedRequest[] }>();
  for await (const recorded of recordings) {
    if (recorded.type === "session")
      talks.set(recorded.session.id, { session: recorded.session, requests: [] });
    if (recorded.type === "request" && recorded.request.thread === "")
      talks.get(recorded.sessionId)?.requests.push(recorded.request);
  }
  const lookUp = createModelLookup(null);
  return [...talks.values()].filter(
    ({ session, requests }) =>
      requests.length > 1 &&
      requests.every(
        (request) => request.startMs !== null && isBillable(lookUp(session, request).facts.cache),
      ),
  );
}

function isBillable({ markers, automatic }: CacheRules): boolean {
  return markers !== null || automatic?.boundary === "every step";
}

export type Plant =
  /** The provider loses everything before the call. */
  | { readonly kind: "eviction" }
  /** The provider loses everything but the head: tools and system. */
  | { readonly kind: "eviction of the tail" }
  /** The client sends another block than the recording shows, and goes on from there. */
  | { readonly kind: "hidden change"; readonly block: number };

/** A call read less because of the plant; `explained` is the verdict on it. */
export interface PlantedCall {
  readonly lostTokens: number;
  readonly isUserTurn: boolean;
  readonly explained: ExplainedCall;
}

export interface UnplantedCalls {
  /** From 0; they read all they can, so a plant there shows itself alone. */
  readonly clean: readonly number[];
  /** How many got a cause that only a plant may have. */
  readonly unknown: number;
}

export async function findCleanCalls(talk: RecordedTalk): Promise<UnplantedCalls> {
  const billed = billCalls(talk, talk.requests.length, null);
  const clean: number[] = [];
  let unknown = 0;
  for await (const { call, explanation } of explain(talk, billed)) {
    if (explanation.cause === "no miss" && call > 1) clean.push(call - 1);
    if (plantedCauses.has(explanation.cause)) unknown += 1;
  }
  return { clean, unknown };
}

const plantedCauses: ReadonlySet<MissCause> = new Set([
  "provider lost it",
  "changed after the head",
  "another host",
]);

/** Null if the plant costs too little to be looked for. */
export async function plantAt(
  talk: RecordedTalk,
  at: number,
  plant: Plant,
): Promise<PlantedCall | null> {
  const without = billCalls(talk, at + 1, null)[at];
  const billed = billCalls(talk, at + 1, plant);
  const lostTokens = (without?.cacheReadTokens ?? 0) - (billed[at]?.cacheReadTokens ?? 0);
  if (lostTokens <= lostTokensMin) return null;
  let last: ExplainedCall | undefined;
  for await (const call of explain(talk, billed)) last = call;
  const ending = talk.requests[at]?.append.at(-1);
  const isUserTurn = ending?.role === "user" && ending.kind === "text";
  return last === undefined ? null : { lostTokens, isUserTurn, explained: last };
}

const lostTokensMin = 1024;

/** A block of the messages that the call before sent too; null if there is none. */
export function pickHiddenChange(talk: RecordedTalk, at: number, random: Random): Plant | null {
  const blocks = blocksAt(talk, at - 1);
  const kept = Math.min(blocks.length, talk.requests[at]?.keep ?? 0);
  const first = blocks.findIndex(({ tier }) => tier === "T3");
  if (first === -1 || first >= kept) return null;
  return { kind: "hidden change", block: wholeBetween(random, first, kept - 1) };
}

/** What the first `count` calls are billed. The plant is in the last of them. */
function billCalls(talk: RecordedTalk, count: number, plant: Plant | null): readonly Usage[] {
  const { session, requests } = talk;
  const lookUp = createModelLookup(null);
  const billing = createBilling();
  const mode = cacheModeOf(session);
  let frame = "";
  let thread: ReplayThread | undefined;
  let blocks: readonly RecordedBlock[] = [];
  let lifetime: Lifetime | null = null;
  return requests.slice(0, count).map((request, index) => {
    const { facts } = lookUp(session, request);
    blocks = [...blocks.slice(0, request.keep), ...request.append];
    lifetime = writtenLifetime(request.usage) ?? lifetime;
    const call = { request, facts, mode, lifetime };
    const open = (own: readonly RecordedBlock[]): ReplayThread =>
      createReplayThread({ workspace: "", model: facts, settings: request.settings }, own);
    if (index === count - 1 && plant !== null) {
      if (plant.kind !== "hidden change") billing.clear();
      const head = headOf(blocks);
      if (plant.kind === "eviction of the tail")
        bill(billing, { ...call, blocks: head }, open(head));
      const sent = plant.kind === "hidden change" ? changeFrom(blocks, plant.block) : blocks;
      return bill(billing, { ...call, blocks: sent }, open(sent));
    }
    const nextFrame = `${facts.id} ${JSON.stringify(request.settings)}`;
    if (thread === undefined || frame !== nextFrame) thread = open(blocks);
    else thread.advance(request);
    frame = nextFrame;
    return bill(billing, { ...call, blocks }, thread);
  });
}

interface BilledCall {
  readonly request: RecordedRequest;
  readonly facts: ModelFacts;
  readonly mode: "implicit" | "explicit";
  readonly blocks: readonly RecordedBlock[];
  readonly lifetime: Lifetime | null;
}

function bill(billing: Billing, call: BilledCall, { prompt }: ReplayThread): Usage {
  const { request, facts, mode, blocks } = call;
  const { lifetimes } = facts.cache;
  const used = lifetimes.find(({ lifetime }) => lifetime === call.lifetime) ?? lifetimes[0];
  const usual = used === undefined ? [] : usualMarkers(blocks, used.lifetime);
  const markers = mode === "explicit" ? (request.markers ?? usual) : [];
  const startMs = request.startMs ?? 0;
  const open = billing.open({
    id: "",
    workspace: "",
    model: facts,
    blocks: prompt.blocks,
    prompt,
    markers: markers
      .filter(({ block }) => block < blocks.length)
      .map((marker) => ({ ...marker, origin: "explicit" as const }))
      .toSorted((left, right) => left.block - right.block),
    mode,
    settings: {},
    startMs,
  });
  open.begin();
  open.end(Math.max(startMs, request.endMs ?? startMs));
  const { readTokens, writeTokens, uncachedTokens } = open.bill;
  return {
    ...noUsage,
    cacheReadTokens: readTokens,
    cacheWriteTokens: writeTokens,
    uncachedTokens: uncachedTokens + request.remainderTokens,
  };
}

/** The recording as it is, with these bills; the request after the last bill shows the last reply. */
function explain(
  { session, requests }: RecordedTalk,
  billed: readonly Usage[],
): AsyncGenerator<ExplainedCall> {
  const sessionId = session.id;
  const recorded = requests.slice(0, billed.length + 1).map((request, index): Recorded => {
    return { type: "request", sessionId, request: { ...request, usage: billed[index] ?? null } };
  });
  return explainRecordings(streamOf([{ type: "session", session }, ...recorded]));
}

async function* streamOf(recorded: readonly Recorded[]): AsyncGenerator<Recorded> {
  yield* recorded;
}

function blocksAt({ requests }: RecordedTalk, at: number): readonly RecordedBlock[] {
  return requests
    .slice(0, at + 1)
    .reduce<RecordedBlock[]>(
      (blocks, { keep, append }) => [...blocks.slice(0, keep), ...append],
      [],
    );
}

function headOf(blocks: readonly RecordedBlock[]): readonly RecordedBlock[] {
  const first = blocks.findIndex(({ tier }) => tier === "T3");
  return first === -1 ? blocks : blocks.slice(0, first);
}

function changeFrom(blocks: readonly RecordedBlock[], from: number): readonly RecordedBlock[] {
  return blocks.map((block, index) =>
    index === from ? { ...block, hash: hashContent(`changed\n${block.hash}`) } : block,
  );
}
