// Shares conversations with other gateways on the same ledger, and with this one after a restart. No exchange waits for the ledger,
// but for markers, within their limit; what is not found, late or failed is counted.
import { setTimeout as wait } from "node:timers/promises";
import { assert } from "../../core/assert.ts";
import type { Catalogue } from "../../core/models/catalogue.ts";
import type { CallRewriter } from "../observe/call-rewriter.ts";
import type {
  AnsweredConversation,
  CallToSeek,
  ConversationShare,
  Seeking,
} from "./conversation-share.ts";
import type { Conversation } from "../observe/conversation.ts";
import type { Conversations } from "../observe/conversations.ts";
import { factsOf } from "../observe/rewriting.ts";
import { adoptStates } from "./adopt-states.ts";
import { createAsker, type Asker, type AskerOptions } from "./ask-ledger.ts";
import { createKeeper, type KeptCounts } from "./keep-states.ts";
import { comingMs, goesOn, knowledgeOf, toQuestion, type Knowledge } from "./state-question.ts";

export interface ShareOptions extends AskerOptions {
  /** Whether other processes write to the same ledger: then a conversation may go on elsewhere at any time. */
  readonly isShared: boolean;
  readonly catalogue: Catalogue;
  readonly rewriter: CallRewriter | null;
  /** States that ended longer ago are of no use. */
  readonly idleMsMax: number;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
}

export interface ShareCounts extends KeptCounts {
  /** Calls for which the ledger knew more of a conversation. */
  readonly found: number;
  /** Calls that go on from a reply of which it knew nothing. */
  readonly notFound: number;
  /** Calls that were sent, or had ended for some seconds, before the answer came. */
  readonly tooLate: number;
  /** Calls for which the ledger could not be asked. */
  readonly failed: number;
}

export interface Share extends ConversationShare {
  counts(): ShareCounts;
  /** Writes what is not written yet, for some seconds at most. */
  close(): Promise<void>;
}

export function openShare(options: ShareOptions): Share {
  const asker = createAsker(options);
  const keeper = createKeeper({ ...options, asker });
  const counts = { found: 0, notFound: 0, tooLate: 0, failed: 0 };
  const parts = { options, asker, counts, gaps: new WeakSet<Conversation>() };
  return {
    seek: (call, conversations) => {
      // The only gateway on a ledger that was empty at its start finds nothing in it that it does not know.
      if (!options.isShared && keeper.beganEmpty()) return null;
      const isAsked = isNeeded(call, knowledgeOf(call, conversations), options);
      return isAsked ? seek(call, conversations, parts) : null;
    },
    keep: (after: AnsweredConversation) => {
      const marks = options.rewriter?.save(after.conversation) ?? null;
      keeper.keep({ ...after, marks });
    },
    counts: () => ({ ...counts, ...keeper.counts() }),
    close: () => keeper.close(),
  };
}

function isNeeded(
  call: CallToSeek,
  { kind }: Knowledge,
  { isShared, rewriter }: ShareOptions,
): boolean {
  if (isShared) return kind !== "known";
  // One gateway knows all since its start. What came before it matters little to a first call, which then does not wait.
  return kind === "new" && (goesOn(call) || rewriter === null);
}

interface SeekParts {
  readonly options: ShareOptions;
  readonly asker: Asker;
  readonly counts: { found: number; notFound: number; tooLate: number; failed: number };
  /** Conversations whose prompts hold answers that no gateway saw, so that none is waited for again. */
  readonly gaps: WeakSet<Conversation>;
}

type Outcome = "found" | "notFound" | "failed";

function seek(call: CallToSeek, conversations: Conversations, parts: SeekParts): Seeking {
  const { counts, options } = parts;
  let outcome: Outcome | "asking" | "late" = "asking";
  const given = Promise.withResolvers<void>();
  const noteLate = (): void => {
    if (outcome !== "asking") return;
    outcome = "late";
    counts.tooLate += 1;
  };
  const timer = setTimeout(() => {
    noteLate();
    given.resolve();
  }, seekMsMax);
  const end = (how: Outcome): void => {
    clearTimeout(timer);
    // A first call is expected to be unknown.
    const isCounted = outcome === "asking" && (how !== "notFound" || goesOn(call));
    if (isCounted) counts[how] += 1;
    outcome = how;
    given.resolve();
  };
  askUntilFound(call, conversations, parts).then(end, () => end("failed"));
  return {
    done: given.promise,
    noteLate,
    isUnsure: () => {
      const { kind } = knowledgeOf(call, conversations);
      if (kind === "known" || !goesOn(call)) return false;
      if (outcome !== "found" && outcome !== "notFound") return true;
      // If an earlier call is known and the ledger has none after it, the client wrote the answers between them itself.
      return options.isShared && kind === "new";
    },
  };
}

/** The longest that a call's verdict waits. */
const seekMsMax = 2000;

async function askUntilFound(
  call: CallToSeek,
  conversations: Conversations,
  parts: SeekParts,
): Promise<"found" | "notFound"> {
  const { options, gaps } = parts;
  let adopted = 0;
  const ask = async (): Promise<Knowledge> => {
    adopted += await askOnce(call, conversations, parts);
    return knowledgeOf(call, conversations);
  };
  let knowledge = await ask();
  const mayCome = options.isShared && (knowledge.of === null || !gaps.has(knowledge.of));
  const from = performance.now();
  let ms = mayCome ? 2 : Infinity;
  while (performance.now() - from + ms < comingMs(call, knowledge)) {
    await wait(ms);
    knowledge = await ask();
    ms *= 2;
  }
  if (knowledge.kind === "behind" && knowledge.of !== null) gaps.add(knowledge.of);
  return adopted > 0 ? "found" : "notFound";
}

/** Returns how many conversations are known better now. */
async function askOnce(
  call: CallToSeek,
  conversations: Conversations,
  { asker, options: { catalogue, rewriter } }: SeekParts,
): Promise<number> {
  const answer = await asker.ask({
    do: "find states",
    question: toQuestion(call, conversations),
  });
  assert(answer.done === "find states", "the ledger answers what it was asked");
  return adoptStates(answer.states, call, {
    conversations,
    rewriter,
    factsOf: (model, upstream) => factsOf(model, upstream, catalogue),
    readPrompt: async (conversationId, callId) => {
      const read = await asker.ask({ do: "read prompt", conversationId, callId });
      assert(read.done === "read prompt", "the ledger answers what it was asked");
      return read.prompt;
    },
  });
}
