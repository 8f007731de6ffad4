// What stands for the folded part: the provider's own compaction, a summary, or an outline that needs no model.
import { appendMessages, openThread } from "../../core/assembly/thread.ts";
import type { CacheState } from "../../core/cache/cache-state.ts";
import type { HistoryMessage } from "../../core/compaction/history.ts";
import {
  buildIndex,
  decodeIndex,
  identifiersOf,
  type FoldIndex,
} from "../../core/compaction/index/fold-index.ts";
import { summaryInstruction } from "../../core/compaction/summary/instruction.ts";
import type { Boundary } from "../../core/compaction/plan/find-boundary.ts";
import { planNoteSizes, type NoteSizes } from "../../core/compaction/plan/fold-limits.ts";
import {
  toFoldMessages,
  type FoldMessages,
  type FoldParts,
} from "../../core/compaction/summary/fold-messages.ts";
import { outlineHistory } from "../../core/compaction/summary/outline.ts";
import { previousNotes } from "../../core/compaction/summary/read-fold-message.ts";
import type { Edges } from "../edges.ts";
import { compactAtProvider } from "./compact-at-provider.ts";
import { canRecall, settingsOf } from "../../core/session/compaction-rules.ts";
import { answeredIn, freedSkills } from "../../core/turn/compaction/freed-skills.ts";
import type { FoldScene } from "../../core/turn/compaction/compaction-input.ts";
import { summarise } from "./summarise.ts";
import type { SummaryCall } from "../../core/session/summary-bill.ts";
import type { NotesBy } from "../../core/turn/compaction/write-fold.ts";

export interface NotesWish {
  readonly boundary: Boundary;
  readonly focus?: string;
  /** Whether a model may be asked; after failures it may not for a while. */
  readonly mayAskModel: boolean;
  /** Whether notes made without a model will do where none can be had. */
  readonly mustFold: boolean;
}

export interface MadeNotes {
  readonly kind: "summary" | "sliding_window";
  /** In words, for people. */
  readonly text: string;
  readonly lead: FoldMessages;
  readonly index: FoldIndex;
  readonly by: NotesBy;
}

export type NotesOutcome = (
  | { readonly kind: "notes"; readonly notes: MadeNotes }
  | { readonly kind: "failed" }
) & {
  /** What went wrong on the way, for people. */
  readonly reasons: readonly string[];
  /** All of them are paid for. */
  readonly calls: readonly SummaryCall[];
  readonly cache: CacheState;
};

/** The cheapest that can be had; never throws for what a provider does. */
export async function makeNotes(
  scene: FoldScene,
  wish: NotesWish,
  edges: Edges,
): Promise<NotesOutcome> {
  const { session, history, lead } = scene;
  const { boundary } = wish;
  const settings = settingsOf(edges.compaction);
  const sizes = planNoteSizes(settings, session.model);
  const { counter } = session.thread.foundation;
  const countText = (text: string): number => counter.text(text);
  const index = buildIndex({
    folded: history.slice(0, boundary.at),
    // What is shown word for word needs no place.
    kept: [...boundary.repeated, ...history.slice(boundary.at)],
    previous: lead?.indexJson == null ? null : decodeIndex(lead.indexJson),
    tokensMax: sizes.indexTokens,
    countText,
  });
  const asked = { scene, wish, index, sizes, countText, edges };
  const atProvider = settings.mayUseProvider && wish.mayAskModel ? await askProvider(asked) : null;
  if (atProvider?.kind === "notes") return atProvider;
  const before = atProvider ?? { reasons: [], calls: [], cache: session.cache };
  const summed = wish.mayAskModel ? await askModel(asked, before.cache) : null;
  const reasons = [...before.reasons, ...(summed?.reasons ?? [])];
  const calls = [...before.calls, ...(summed?.calls ?? [])];
  const cache = summed?.cache ?? before.cache;
  if (summed?.kind === "notes") return { ...summed, reasons, calls };
  // Whoever cancels wants nothing replaced for good, however full the window is.
  const isCancelled = edges.signal?.aborted === true;
  if (!wish.mustFold || isCancelled) return { kind: "failed", reasons, calls, cache };
  return { kind: "notes", notes: outline(asked), reasons, calls, cache };
}

interface NotesQuestion {
  readonly scene: FoldScene;
  readonly wish: NotesWish;
  readonly index: FoldIndex;
  readonly sizes: NoteSizes;
  readonly countText: (text: string) => number;
  readonly edges: Edges;
}

async function askProvider(question: NotesQuestion): Promise<NotesOutcome> {
  const { scene, wish, index, sizes, edges } = question;
  const { session, history } = scene;
  const folded = history.slice(0, wish.boundary.at).map(({ message }) => message);
  const thread = appendMessages(openThread(session.thread.foundation), folded);
  const said = await compactAtProvider(
    session,
    {
      thread,
      pending: [],
      volatile: session.toldVolatile,
      ...instructionsFor(wish, index, sizes),
    },
    edges,
  );
  if (said.kind === "unavailable") {
    return { kind: "failed", reasons: [said.why], calls: [], cache: session.cache };
  }
  const { calls, cache } = said;
  if (said.kind === "failed") return { kind: "failed", reasons: said.reasons, calls, cache };
  const lead = toFoldMessages({ ...partsOf(scene, wish, index, edges), notes: null });
  const notes: MadeNotes = {
    kind: "summary",
    text: said.summary ?? "(the provider keeps it to itself)",
    lead: { ...lead, notes: [...said.messages, ...lead.notes] },
    index,
    by: "provider",
  };
  return { kind: "notes", notes, reasons: [], calls, cache };
}

/** They take the place of the provider's own, which do well without a focus. */
function instructionsFor(
  { focus }: NotesWish,
  index: FoldIndex,
  { summaryTokens: tokensMax }: NoteSizes,
): { readonly instructions?: string } {
  if (focus === undefined) return {};
  const identifiers = mustKeep([], index);
  const wish = { focus, hasEarlierNotes: false, identifiers, tokensMax };
  return { instructions: summaryInstruction(wish) };
}

async function askModel(
  { scene, wish, index, sizes, countText, edges }: NotesQuestion,
  cache: CacheState,
): Promise<NotesOutcome> {
  const { session, history, staged } = scene;
  const { boundary, focus } = wish;
  const folded = history.slice(0, boundary.at);
  const lastAsk = folded.findLast(
    ({ message, foldPart }) => message.role === "user" && foldPart !== "notes",
  );
  const { summariser, sleep = sleepFor } = edges.compaction ?? {};
  const said = await summarise(
    { ...session, cache },
    {
      thread: session.thread,
      // A new request is kept word for word and needs no summary.
      pending: staged.filter(({ role }) => role === "tool"),
      history: folded,
      hasEarlierNotes: previousNotes(folded) !== null,
      identifiers: mustKeep(lastAsk === undefined ? [] : wordsOf(lastAsk), index),
      // What the turn that is cut works on: the notes go before it, and must be about it.
      pendingAsks: boundary.repeated.flatMap(wordsOf),
      summaryTokensMax: sizes.summaryTokens,
      countText,
      volatile: session.toldVolatile,
      ...(focus === undefined ? {} : { focus }),
    },
    {
      provider: edges.provider,
      now: edges.now,
      sleep,
      ...(summariser === undefined ? {} : { summariser }),
      ...(edges.signal === undefined ? {} : { signal: edges.signal }),
    },
  );
  const { calls } = said;
  if (said.kind === "failed") {
    return { kind: "failed", reasons: said.reasons, calls, cache: said.cache };
  }
  const lead = toFoldMessages({
    ...partsOf(scene, wish, index, edges),
    notes: { kind: "summary", text: said.text },
  });
  const notes: MadeNotes = { kind: "summary", text: said.text, lead, index, by: "model" };
  return { kind: "notes", notes, reasons: [], calls, cache: said.cache };
}

/** Needs no model: what was asked, what was done, and the exact names of things. */
function outline({ scene, wish, index, sizes, countText, edges }: NotesQuestion): MadeNotes {
  const folded = scene.history.slice(0, wish.boundary.at);
  const text = outlineHistory(folded, { tokensMax: sizes.outlineTokens, countText });
  const lead = toFoldMessages({
    ...partsOf(scene, wish, index, edges),
    notes: { kind: "outline", text },
  });
  return { kind: "sliding_window", text, lead, index, by: "nobody" };
}

function partsOf(
  { session, history }: FoldScene,
  { boundary }: NotesWish,
  index: FoldIndex,
  { compaction }: Edges,
): Omit<FoldParts, "notes"> {
  const { repeated, at } = boundary;
  return {
    indexText: index.text,
    skillsFreed: freedSkills(answeredIn(history.slice(0, at)), compaction?.skills),
    currentRequest: repeated.length === 0 ? null : repeated.map(({ message }) => message),
    shape: settingsOf(compaction).summaryShape,
    canRecall: canRecall(session),
    keptRole: history[at]?.message.role ?? null,
  };
}

function wordsOf({ message }: HistoryMessage): readonly string[] {
  return message.content.flatMap((block) => (block.type === "text" ? [block.text] : []));
}

/** The names in the latest request, and the few that everything turned on. */
function mustKeep(ask: readonly string[], index: FoldIndex): readonly string[] {
  const asked = [...identifiersOf(ask.join("\n"))].slice(0, identifiersMax);
  const top = index.entries.slice(0, identifiersMax).map(({ text }) => text);
  return [...new Set([...asked, ...top])].slice(0, identifiersMax);
}

const identifiersMax = 12;

function sleepFor(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    }
    signal?.addEventListener("abort", done, { once: true });
  });
}
