// Plays one recorded conversation under one compaction rule: the requests sent and their cost.
import { chanceWithin } from "../../src/core/cache/pace.ts";
import type { Policy } from "../../src/core/cache/policy.ts";
import {
  decideCompaction,
  type CompactionDecision,
} from "../../src/core/compaction/plan/decide-compaction.ts";
import { findBoundary } from "../../src/core/compaction/plan/find-boundary.ts";
import {
  planCompactionLimits,
  toBoundaryWish,
} from "../../src/core/compaction/plan/compaction-limits.ts";
import {
  afterCall,
  afterCompaction,
  afterTurn,
  openCompactionState,
  type CompactionState,
} from "../../src/core/compaction/plan/compaction-state.ts";
import type { CompactionSettings } from "../../src/core/compaction/plan/settings.ts";
import {
  expectCallsLeft,
  weighCompaction,
} from "../../src/core/compaction/plan/weigh-compaction.ts";
import { notesMarkers } from "../../src/core/compaction/summary/notes-markers.ts";
import { hashContent } from "../../src/core/hash.ts";
import { noUsage } from "../../src/core/message/usage.ts";
import { costOf } from "../../src/core/models/cost.ts";
import type { ModelFacts } from "../../src/core/models/model-facts.ts";
import { planBudget } from "../../src/core/tokens/budget.ts";
import type { RecordedBlock } from "../../src/replay/recording.ts";
import type { TimedRequest } from "../../src/replay/policy-run.ts";
import { replayWorkspace } from "../../src/replay/replay-workspace.ts";
import type { RecordedCall, RecordedThread, ThreadMessage } from "./recorded-thread.ts";

/** Tokens of our summary and our index. */
const summaryTokens = 1_500;
const indexTokens = 2_000;
const room = { instructionTokens: 800, summaryTokens };

export interface CompactedThread {
  readonly requests: readonly TimedRequest[];
  readonly compactions: readonly Compaction[];
}

export interface Compaction {
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly wasForced: boolean;
  readonly wasCold: boolean;
  readonly startMs: number;
  readonly model: ModelFacts;
}

/** The messages in front, and the index from which the conversation is sent. */
interface View {
  readonly lead: readonly ThreadMessage[];
  readonly from: number;
}

/** Decisions do not use later requests. */
export function compactionThread(
  { calls }: RecordedThread,
  settings: CompactionSettings,
  windowTokens: number | null,
): CompactedThread {
  const requests: TimedRequest[] = [];
  const compactions: Compaction[] = [];
  let state = openCompactionState();
  let messages: readonly ThreadMessage[] = [];
  let view: View = { lead: [], from: 0 };
  let sent: readonly RecordedBlock[] = [];
  const send = (
    { request, startMs, model }: RecordedCall,
    prompt: readonly RecordedBlock[],
  ): void => {
    const keep = countShared(sent, prompt);
    const changed = { ...request, keep, append: prompt.slice(keep), remainderTokens: 0 };
    requests.push({ request: changed, startMs, model, isMain: true });
    sent = prompt;
  };
  for (const [index, call] of calls.entries()) {
    messages = [...messages.slice(0, call.keep), ...call.append];
    if (call.keep < view.from) view = { lead: [], from: 0 };
    if (call.append.some(({ message }) => message.role === "user")) state = afterTurn(state);
    const history = [...view.lead, ...messages.slice(view.from)];
    const prompt = toPrompt(call, history);
    const before = calls[index - 1];
    const decision = decide({ settings, windowTokens, calls, call, before, state, sent, history });
    if (decision.isDue) {
      const { at, repeated } = decision.boundary;
      const lead = makeLead(
        history.filter((message) => repeated.includes(message)),
        compactions.length,
      );
      send(call, [...prompt, makeBlock("instruction", room.instructionTokens)]);
      view = { lead, from: view.from + at - view.lead.length };
      const compacted = toPrompt(call, [...lead, ...messages.slice(view.from)]);
      const outcome = { tokensBefore: sum(prompt), tokensAfter: sum(compacted) };
      const { startMs, model } = call;
      const { effectiveShareMin } = settings.auto;
      state = afterCompaction(state, { nowMs: startMs, effectiveShareMin, ...outcome });
      const wasForced = decision.trigger === "context_limit";
      compactions.push({ ...outcome, wasForced, wasCold: isCold(call, before), startMs, model });
      send(call, compacted);
    } else send(call, prompt);
    state = afterCall(state);
  }
  return { requests, compactions };
}

/** Prices prompts with the simulator's billing, and summaries. Other output is the same under every rule. */
export function priceThread(
  id: string,
  { requests, compactions }: CompactedThread,
  policy: Pick<Policy, "markers">,
): bigint {
  let total = 0n;
  for (const { timed, outcomes } of replayWorkspace(id, requests, [policy])) {
    const usage = outcomes[0]?.usage ?? noUsage;
    total += costOf(usage, timed.model, { at: timed.startMs }).totalPicoUsd;
  }
  for (const { model, startMs } of compactions) {
    const usage = { ...noUsage, outputTokens: summaryTokens };
    total += costOf(usage, model, { at: startMs }).totalPicoUsd;
  }
  return total;
}

interface Moment {
  readonly settings: CompactionSettings;
  readonly windowTokens: number | null;
  readonly calls: readonly RecordedCall[];
  readonly call: RecordedCall;
  readonly before: RecordedCall | undefined;
  readonly state: CompactionState;
  readonly sent: readonly RecordedBlock[];
  readonly history: readonly ThreadMessage[];
}

function decide(moment: Moment): CompactionDecision {
  const { settings, call, before, state, sent, history } = moment;
  const prompt = toPrompt(call, history);
  const contextTokens = sum(prompt);
  const model =
    moment.windowTokens === null ? call.model : withWindow(call.model, moment.windowTokens);
  const used = { T0: 0, T1: 0, T2: 0, T3: contextTokens, T4: 0, T5: 0 };
  const budget = planBudget(model, used);
  // Recorded replies are far shorter than the model's output limit.
  const limits = planCompactionLimits({ settings, budget, model, outputTokensMax: 8_000, room });
  return decideCompaction({
    settings,
    limits,
    usedTokens: contextTokens,
    nowMs: call.startMs,
    sessionAgeMs: call.startMs - (moment.calls[0]?.startMs ?? call.startMs),
    state,
    findBoundary: (targetTokens) => {
      const wish = toBoundaryWish(limits, settings, targetTokens);
      const found = findBoundary(history, wish);
      if (found === null) return null;
      const freed = found.compactedTokens - found.repeatedTokens - summaryTokens - indexTokens;
      return freed < settings.auto.effectiveShareMin * contextTokens ? null : found;
    },
    weigh: ({ keptTokens, repeatedTokens }) =>
      weighCompaction({
        model: call.model,
        at: call.startMs,
        contextTokens,
        foundationTokens: sum(call.foundation),
        keptTokens,
        compactionTokens: summaryTokens + indexTokens + repeatedTokens,
        summary: {
          kind: "same prefix",
          inputTokens: contextTokens + room.instructionTokens,
          outputTokens: summaryTokens,
        },
        sentTokens: sum(prompt.slice(0, countShared(sent, prompt))),
        isCacheCold: isCold(call, before),
        coldChance: 1 - chanceWithin(call.pace, keptMsOf(call.model)),
        callsLeft: expectCallsLeft(state),
      }),
  });
}

function isCold({ startMs, model }: RecordedCall, before: RecordedCall | undefined): boolean {
  if (before === undefined || before.model.id !== model.id) return true;
  return startMs - before.startMs > keptMsOf(model);
}

function keptMsOf({ cache }: ModelFacts): number {
  return (cache.lifetimes[0]?.seconds ?? cache.automatic?.keptSecondsMin ?? 300) * 1000;
}

function withWindow(model: ModelFacts, windowTokens: number): ModelFacts {
  return { ...model, windowTokens, inputTokensMax: windowTokens };
}

function toPrompt(
  { foundation }: RecordedCall,
  history: readonly ThreadMessage[],
): readonly RecordedBlock[] {
  return [...foundation, ...history.flatMap(({ blocks }) => blocks)];
}

function makeLead(repeated: readonly ThreadMessage[], count: number): readonly ThreadMessage[] {
  const turnId = `fold ${count}`;
  const blocks = [makeBlock(turnId, summaryTokens + indexTokens)];
  const message = { role: "user", content: [{ type: "text", text: notesMarkers.start }] } as const;
  const compactionPart = "notes" as const;
  const notes: ThreadMessage = {
    turnId,
    index: 0,
    message,
    tokens: sum(blocks),
    blocks,
    compactionPart,
  };
  return [
    notes,
    ...repeated.map((each, place): ThreadMessage => {
      return { ...each, turnId, index: place + 1, compactionPart: "request" };
    }),
  ];
}

function makeBlock(content: string, tokens: number): RecordedBlock {
  return {
    hash: hashContent(content),
    tokens,
    tier: "T3",
    kind: "text",
    role: "user",
    endsMessage: true,
    mayCarryMarker: true,
  };
}

function countShared(left: readonly RecordedBlock[], right: readonly RecordedBlock[]): number {
  const end = right.findIndex((block, index) => block.hash !== left[index]?.hash);
  return end === -1 ? right.length : end;
}

function sum(items: readonly { readonly tokens: number }[]): number {
  return items.reduce((total, { tokens }) => total + tokens, 0);
}
