// A summary of the conversation as text: by another model, or in parts if it fits no window.
import { buildFoundation } from "../../core/assembly/foundation.ts";
import { openThread } from "../../core/assembly/thread.ts";
import { openCacheState } from "../../core/cache/cache-state.ts";
import { findPolicy } from "../../core/cache/policies.ts";
import { chunkHistory, chunkTokensMax, countSafety } from "../../core/compaction/summary/chunks.ts";
import {
  mergeInstruction,
  summariserSystem,
  transcriptInstruction,
} from "../../core/compaction/summary/instruction.ts";
import { renderTranscript } from "../../core/compaction/summary/transcript.ts";
import type { Message } from "../../core/message/message.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import type { TokenCounter } from "../../core/tokens/token-counter.ts";
import type { CallOptions, Protocol } from "../../core/wire/protocol.ts";
import type { Provider } from "../../edge/providers/provider.ts";
import type { Session } from "../../core/session/session.ts";
import {
  runSummaryAttempts,
  type AttemptDeps,
  type Attempted,
  type SummaryQuestion,
} from "./summarise-attempts.ts";
import { countRequest, optionsFor, type Speaker } from "./summarise-call.ts";
import type { SummaryCall } from "../../core/session/summary-bill.ts";
import {
  demandsOf,
  wishOf,
  type SummaryRequest,
} from "../../core/turn/compaction/summary-request.ts";

/** A model that only writes summaries. */
export interface Summariser {
  readonly model: ModelFacts;
  readonly protocol: Protocol;
  readonly provider: Pick<Provider, "send">;
  readonly counter: TokenCounter;
  readonly options: CallOptions;
}

export type FromTranscript = Attempted & { readonly from: "transcript" | "chunks" };

export async function summariseTranscript(
  session: Session,
  request: SummaryRequest,
  summariser: Summariser,
  deps: AttemptDeps,
): Promise<FromTranscript> {
  const speaker = toSpeaker(session, summariser, request.summaryTokensMax);
  const { history } = request;
  const whole = ask(speaker, request, {
    shown: renderTranscript(history),
    instruction: transcriptInstruction(wishOf(request)),
    isPart: false,
  });
  const { messages, instruction } = whole;
  const room = roomOf(speaker);
  if (countRequest(speaker, messages(instruction)) * countSafety <= room) {
    return { ...(await runSummaryAttempts(whole, deps)), from: "transcript" };
  }
  const nothing = ask(speaker, request, { shown: "", instruction, isPart: true });
  if (countRequest(speaker, nothing.messages(instruction)) * countSafety > room) {
    const { id, windowTokens } = summariser.model;
    const reason = `the window of ${id}, ${windowTokens} tokens, has no room for an instruction and a summary`;
    return {
      kind: "failed",
      why: "overflow",
      reasons: [reason],
      calls: [],
      speaker,
      from: "chunks",
    };
  }
  const parts = chunkHistory(history, {
    windowTokens: room,
    countText: (text) => summariser.counter.text(text),
  });
  const work: Work = { speaker, request, deps, calls: [] };
  return { ...(await summariseParts(parts, work)), calls: work.calls, from: "chunks" };
}

/** A summariser has no tools, no cache and its own system prompt. */
function toSpeaker(session: Session, summariser: Summariser, summaryTokensMax: number): Speaker {
  const { model, protocol, counter, provider } = summariser;
  const { toolChoice: _, parallelToolUse: __, ...options } = summariser.options;
  const foundation = buildFoundation({
    tools: [],
    system: [{ label: "summariser", tier: "T1", text: summariserSystem }],
    spelling: protocol.spelling(model),
    counter,
    model,
  });
  const own: Session = {
    ...session,
    model,
    protocol,
    policy: findPolicy("none"),
    options,
    thread: openThread(foundation),
    cache: openCacheState(),
  };
  const asked = { ...own, options: optionsFor(own, summaryTokensMax) };
  return { session: asked, provider, volatile: null };
}

function roomOf({ session: { model, options } }: Speaker): number {
  return Math.max(1, Math.min(model.inputTokensMax, model.windowTokens - options.outputTokensMax));
}

interface Work {
  readonly speaker: Speaker;
  readonly request: SummaryRequest;
  readonly deps: AttemptDeps;
  /** Grows with every call, so that a failure loses none. */
  readonly calls: SummaryCall[];
}

/** Summarises each part, then the summaries together; in several rounds if they are too many. */
async function summariseParts(parts: readonly string[], work: Work): Promise<Attempted> {
  const { request, speaker } = work;
  const notes: string[] = [];
  for (const [index, shown] of parts.entries()) {
    const part = { number: index + 1, count: parts.length };
    const instruction = transcriptInstruction({ ...wishOf(request), identifiers: [] }, part);
    const tried = await attempt(ask(speaker, request, { shown, instruction, isPart: true }), work);
    if (tried.kind === "failed") return tried;
    notes.push(tried.text);
  }
  for (let left: readonly string[] = notes; ;) {
    const groups = toGroups(left, work);
    const merged: string[] = [];
    for (const group of groups) {
      const isPart = groups.length > 1;
      if (isPart && group.length === 1) merged.push(...group);
      else {
        const tried = await merge(group, isPart, work);
        if (tried.kind === "failed" || !isPart) return tried;
        merged.push(tried.text);
      }
    }
    left = merged;
  }
}

function merge(group: readonly string[], isPart: boolean, work: Work): Promise<Attempted> {
  const { request, speaker } = work;
  const shown = group.map((text, index) => `[part ${index + 1} of ${group.length}]\n${text}`);
  const instruction = mergeInstruction(wishOf(request));
  return attempt(ask(speaker, request, { shown: shown.join("\n\n"), instruction, isPart }), work);
}

/** Groups of summaries that fit one part's size limit, at least two per group. */
function toGroups(notes: readonly string[], { speaker }: Work): readonly (readonly string[])[] {
  const { counter } = speaker.session.thread.foundation;
  const tokensMax = chunkTokensMax(roomOf(speaker));
  const groups: string[][] = [];
  let room = 0;
  for (const note of notes) {
    const tokens = counter.text(note);
    const group = groups.at(-1);
    if (group === undefined || (tokens > room && group.length > 1)) {
      groups.push([note]);
      room = tokensMax - tokens;
    } else {
      group.push(note);
      room -= tokens;
    }
  }
  return groups;
}

async function attempt(question: SummaryQuestion, work: Work): Promise<Attempted> {
  const tried = await runSummaryAttempts(question, work.deps);
  work.calls.push(...tried.calls);
  return tried;
}

interface Shown {
  readonly shown: string;
  readonly instruction: string;
  readonly isPart: boolean;
}

function ask(speaker: Speaker, request: SummaryRequest, what: Shown): SummaryQuestion {
  const demands = demandsOf(request);
  return {
    speaker,
    instruction: what.instruction,
    messages: (instruction): readonly Message[] => [
      {
        role: "user",
        content: [
          { type: "text", text: `<transcript>\n${what.shown}\n</transcript>` },
          { type: "text", text: instruction },
        ],
      },
    ],
    demands: what.isPart
      ? { ...demands, identifiers: [], pendingAsks: [], tokensMin: 1, isPart: true }
      : demands,
  };
}
