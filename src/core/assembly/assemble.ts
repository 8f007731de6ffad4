// Foundation + thread + new messages + volatile text → the tiers of one call in final order.
import { joinLists, type ListView } from "../growing/growing-list.ts";
import { extendPrefixKey } from "../hash.ts";
import type { Message } from "../message/message.ts";
import { keepsOnlyInputs } from "../models/cache-rules.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import type { TokensPerTier } from "../tokens/budget.ts";
import type { Layout } from "./layout.ts";
import type { BlockList } from "./prompt-block.ts";
import { sealBlocks, type SealedBlock, type SealedRegion } from "./sealed-block.ts";
import type { LeftOut, VolatileForm } from "./spelling.ts";
import { volatileLabel } from "./system-blocks.ts";
import { appendMessages, appendSpelled, countSpelled, type Thread } from "./thread.ts";

export interface Assembly {
  /** Includes the new messages of this call. Append the reply to it. */
  readonly thread: Thread;
  /** The same without kept volatile text, for a call that failed. */
  readonly plainThread: Thread;
  /** T5 as sent in this call. Not stored. */
  readonly volatile: SealedRegion;
  readonly volatilePlace: Layout["volatile"];
  /** Volatile content the protocol could not carry. The thread has the same list for messages. */
  readonly leftOut: readonly LeftOut[];
  /** Every block in wire order. */
  readonly blocks: BlockList;
  readonly sealed: ListView<SealedBlock>;
  /** Index of the last block that later calls repeat. What follows is sent once. */
  readonly tailBlock: number;
  readonly usedTokens: TokensPerTier;
}

export interface AssembleParts {
  readonly thread: Thread;
  /** The current message, or the results of the tools that the last reply called. */
  readonly current: readonly Message[];
  /** Text that may change on any call. Null for none. */
  readonly volatile: string | null;
  readonly layout: Layout;
  readonly model: Pick<ModelFacts, "capabilities" | "cache">;
}

export function assemble({ thread, current, volatile, layout, model }: AssembleParts): Assembly {
  const place = layout.volatile;
  const opening = place === "message-head" ? withHead(current, volatile) : current;
  const grown = appendMessages(thread, opening);
  const t4From = thread.blocks.length;
  if (volatile !== null && keepsVolatile(model, place)) {
    return withKept(grown, volatile, t4From, place);
  }
  if (place === "system-tail") return withSystemTail(grown, volatile, t4From, layout);
  const tail = place === "message-head" || volatile === null ? null : volatile;
  return withMessageTail(grown, tail, t4From, place);
}

/** Whether volatile text becomes part of the thread, because the next call must begin with exactly what this one sends. */
export function keepsVolatile(
  { capabilities, cache }: AssembleParts["model"],
  place: Layout["volatile"],
): boolean {
  switch (place) {
    case "message-head":
      return false;
    // Nothing before a thinking block may change.
    case "system-tail":
      return capabilities.thinkingBoundToPrefix;
    // A prefix that ends after this text is found only where the text is sent again.
    case "message-tail":
    case "system-message":
      return capabilities.thinkingBoundToPrefix || keepsOnlyInputs(cache);
  }
}

/** Puts the event context before the user's words, in one text, as it will be stored. */
function withHead(current: readonly Message[], head: string | null): readonly Message[] {
  if (head === null) return current;
  const at = current.findIndex(({ role }) => role === "user");
  const message = current[at];
  if (message === undefined) return current;
  const [first, ...rest] = message.content;
  const content =
    first?.type === "text"
      ? [{ type: "text" as const, text: `${head}\n\n${first.text}` }, ...rest]
      : [{ type: "text" as const, text: head }, ...message.content];
  return current.with(at, { role: message.role, content });
}

function withMessageTail(
  thread: Thread,
  text: string | null,
  t4From: number,
  place: Layout["volatile"],
): Assembly {
  const { spelling, counter } = thread.foundation;
  const spelled = text === null ? null : spelling.volatile(text, thread.written, formOf(place));
  const volatile = sealBlocks(spelled?.blocks ?? [], thread.end, {
    region: "volatile",
    tierOf: () => "T5",
    tokensOf: (block) => countSpelled(block, counter),
  });
  const before = [thread.foundation.blocks, currentView(thread, t4From)];
  const assembly = toAssembly(thread, volatile, place, [...before, volatile.blocks], t4From);
  return { ...assembly, leftOut: spelled?.leftOut ?? [] };
}

function formOf(place: Layout["volatile"]): VolatileForm {
  return place === "system-message" ? "system message" : "text";
}

/** Before the messages, so it is part of every message's prefix. */
function withSystemTail(
  thread: Thread,
  text: string | null,
  t4From: number,
  layout: Layout,
): Assembly {
  const { foundation } = thread;
  const label = volatileLabel(layout);
  const system = text === null ? [] : [{ label, tier: "T5" as const, text }];
  const spelled = foundation.spelling.system([...foundation.system, ...system]);
  const volatile = sealBlocks(spelled.slice(foundation.system.length), foundation.end, {
    region: "volatile",
    tierOf: () => "T5",
    tokensOf: () => foundation.counter.text(text ?? ""),
    labelOf: () => label,
  });
  const moved = text === null ? null : volatile;
  const messages = currentView(thread, t4From, moved);
  const lists = [foundation.blocks, volatile.blocks, messages];
  return toAssembly(thread, volatile, "system-tail", lists, t4From);
}

function withKept(
  grown: Thread,
  text: string,
  t4From: number,
  place: Layout["volatile"],
): Assembly {
  const { spelling, counter } = grown.foundation;
  const spelled = spelling.volatile(text, grown.written, "kept");
  const clears = spelled.blocks.some(({ clearsAfterTurn }) => clearsAfterTurn === true);
  // Text that stays visible is sent again only if it changed.
  if (text === grown.keptVolatile && !clears) return withMessageTail(grown, null, t4From, place);
  const message: Message = spelled.message ?? {
    role: "user",
    content: [{ type: "text", text }],
  };
  const thread = { ...appendSpelled(grown, message, spelled), keptVolatile: text };
  const shown = clears
    ? spelled.blocks.reduce((sum, block) => sum + countSpelled(block, counter), 0)
    : 0;
  const keptFrom = grown.blocks.length;
  const messages = currentView(thread, t4From, null, { keptFrom, shown });
  const none = sealBlocks([], thread.end, { region: "volatile", tierOf: t5, tokensOf: () => 0 });
  const assembly = toAssembly(thread, none, place, [thread.foundation.blocks, messages], t4From);
  return {
    ...assembly,
    plainThread: grown,
    usedTokens: { ...assembly.usedTokens, T5: shown },
  };
}

const t5 = (): "T5" => "T5";

/** The thread's blocks in this call: T4 from `t4From` on, after text that stands before it. */
function currentView(
  { blocks }: Thread,
  t4From: number,
  moved: SealedRegion | null = null,
  kept: { readonly keptFrom: number; readonly shown: number } | null = null,
): ListView<SealedBlock> {
  const added = moved?.blocks.reduce((sum, { tokens }) => sum + tokens, 0) ?? 0;
  const shown = (index: number, block: SealedBlock): SealedBlock => {
    const isShown = kept !== null && kept.shown > 0 && index >= kept.keptFrom;
    return {
      ...block,
      tier: isShown ? "T5" : index < t4From ? "T3" : "T4",
      key: moved === null ? block.key : extendPrefixKey(moved.end.key, block.key),
      tokens: block.tokens + (isShown ? kept.shown : 0),
      endTokens: block.endTokens + added + (isShown ? kept.shown : 0),
    };
  };
  // A plan looks at the new blocks many times; each is made once.
  const made: SealedBlock[] = [];
  return {
    length: blocks.length,
    at: (index) => {
      const block = blocks.at(index);
      if (block === undefined || (index < t4From && moved === null)) return block;
      return index < t4From ? shown(index, block) : (made[index - t4From] ??= shown(index, block));
    },
  };
}

function toAssembly(
  thread: Thread,
  volatile: SealedRegion,
  volatilePlace: Layout["volatile"],
  lists: readonly ListView<SealedBlock>[],
  t4From: number,
): Assembly {
  const sealed = joinLists(...lists);
  const { foundation } = thread;
  const isTail = volatilePlace !== "system-tail";
  const tailBlock = sealed.length - 1 - (isTail ? volatile.blocks.length : 0);
  const t3End =
    t4From === 0 ? foundation.end.tokens : (thread.blocks.at(t4From - 1)?.endTokens ?? 0);
  return {
    thread,
    plainThread: thread,
    volatile,
    volatilePlace,
    leftOut: [],
    blocks: sealed,
    sealed,
    tailBlock,
    usedTokens: {
      ...foundation.tierTokens,
      T3: t3End - foundation.end.tokens,
      T4: thread.end.tokens - t3End,
      T5: volatile.blocks.reduce((sum, { tokens }) => sum + tokens, 0),
    },
  };
}
