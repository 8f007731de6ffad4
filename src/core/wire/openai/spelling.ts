// Tools, system text and messages as both OpenAI protocols write them.
import type {
  LeftOut,
  Spelled,
  SpelledBlock,
  Spelling,
  VolatileForm,
  Written,
} from "../../assembly/spelling.ts";
import type { SystemBlock } from "../../assembly/system-blocks.ts";
import type { Block, JsonText, Message } from "../../message/message.ts";
import type { ToolDefinition } from "../../message/tool-definition.ts";
import { parseFields } from "../../message/fields.ts";
import { partOf, plainText, type PartWords } from "./parts.ts";
import {
  continuation,
  entryOfParts,
  entryOfTexts,
  nameOf,
  toSpelled,
  toText,
  type Entry,
  type Leave,
  type Part,
} from "./spelled.ts";

/** Forms that differ between the two protocols. */
export interface SpellingWords {
  /** From the members that name, describe and define a tool. */
  tool(members: string): JsonText;
  /** How a message begins, up to its content. */
  readonly opens: Readonly<Record<PartSpeaker, string>>;
  readonly parts: PartWords;
  /** Whether content that is only text is one string instead of parts. */
  readonly isText: boolean;
  /** Whether all system text at the start is one message. */
  readonly joinsSystem: boolean;
  /** Whether system messages may stand among the others. If not, they are the user's. */
  readonly takesLaterSystem: boolean;
  /** A message that stands between the results of tools and the user's words; null for none. */
  readonly afterTools: JsonText | null;
  entries(message: Message, leave: Leave): readonly Entry[];
}

/** Roles whose messages are made of parts; tool results go into user messages. */
type PartSpeaker = "system" | "user";

export function toOpenaiSpelling(words: SpellingWords): Spelling {
  const message = (each: Message, written: Written): Spelled => spellMessage(each, written, words);
  return {
    tools: (tools) => tools.map((tool, index) => toolBlock(words.tool(toolMembers(tool)), index)),
    system: (blocks) => spellSystem(blocks, words),
    message,
    volatile: (text, written, how) =>
      !words.takesLaterSystem && how !== "kept" && written.openRole !== null
        ? continueLast(text, written)
        : spellVolatile(text, how, (each) => message(each, written)),
  };
}

/** One message for each block, or one for all. Volatile text then continues that message. */
function spellSystem(
  blocks: readonly Pick<SystemBlock, "text" | "tier">[],
  words: SpellingWords,
): readonly SpelledBlock[] {
  if (!words.joinsSystem)
    return blocks.flatMap((block, index) => systemMessage([block], index, words));
  const kept = blocks.filter(({ tier }) => tier !== "T5");
  if (kept.length === 0) return systemMessage(blocks, 0, words);
  const volatile = blocks.filter(({ tier }) => tier === "T5");
  return [
    ...systemMessage(kept, 0, words),
    ...volatile.map(({ text }): SpelledBlock => ({ ...continuing(text, "system"), content: [] })),
  ];
}

function systemMessage(
  blocks: readonly Pick<SystemBlock, "text">[],
  index: number,
  { opens, parts, isText }: SpellingWords,
): readonly SpelledBlock[] {
  const open = `${index === 0 ? "" : ","}${opens.system}`;
  const texts = blocks.map(({ text }) => ({ text, kind: "system text" as const, content: [] }));
  const { pieces } = isText
    ? entryOfTexts("system", open, texts)
    : entryOfParts(
        "system",
        open,
        texts.map(({ text, ...piece }) => ({ ...piece, json: parts.text(text) })),
      );
  // The order of the members is stored with the session.
  return pieces.map(({ json, markerFromEnd, kind, content }, at): SpelledBlock => {
    const endsMessage = at === pieces.length - 1;
    return { json, markerFromEnd, kind, role: "system", endsMessage, content };
  });
}

/** Text for this call alone, at the end of the last message. */
function continueLast(text: string, written: Written): Spelled {
  return { blocks: [continuing(text, "user")], written, leftOut: [] };
}

function continuing(text: string, role: "system" | "user"): SpelledBlock {
  return {
    json: continuation(text),
    markerFromEnd: null,
    kind: role === "user" ? "text" : "system text",
    role,
    endsMessage: true,
    content: [{ type: "text", text }],
  };
}

/** The entries of a user, tool or application message: parts in one message, between the `alone` entries. */
export function partEntries(
  { role, content }: Pick<Message, "role" | "content">,
  { opens, parts: words, isText, takesLaterSystem }: SpellingWords,
  alone: (block: Block) => Entry | undefined,
  leave: Leave,
): readonly Entry[] {
  const entries: Entry[] = [];
  const speaker = role === "system" && takesLaterSystem ? "system" : "user";
  let parts: Part[] = [];
  const flush = (): void => {
    if (parts.length > 0) {
      const texts = isText ? textsOf(parts) : null;
      entries.push(
        texts === null
          ? entryOfParts(speaker, opens[speaker], parts)
          : entryOfTexts(speaker, opens[speaker], texts),
      );
    }
    parts = [];
  };
  for (const block of content) {
    const entry = alone(block);
    if (entry === undefined) {
      const part = partOf(block, words, leave);
      if (part !== undefined) parts.push(speaker === "system" ? asSystemText(part) : part);
    } else {
      flush();
      entries.push(entry);
    }
  }
  flush();
  return entries;
}

/** Null if a part is no text. */
function textsOf(parts: readonly Part[]): readonly (Part & { readonly text: string })[] | null {
  const texts = parts.flatMap((part) => {
    const [block] = part.content;
    const text = block === undefined ? undefined : plainText(block);
    return text === undefined ? [] : [{ ...part, text }];
  });
  return texts.length === parts.length ? texts : null;
}

function asSystemText(part: Part): Part {
  return part.kind === "text" ? { ...part, kind: "system text" } : part;
}

function toolMembers({ name, description, inputSchemaJson }: ToolDefinition): string {
  return `"name":${toText(name)},"description":${toText(description)},"parameters":${inputSchemaJson}`;
}

function toolBlock(json: JsonText, index: number): SpelledBlock {
  return {
    json: index === 0 ? json : `,${json}`,
    markerFromEnd: null,
    kind: "tool definition",
    role: "tools",
    endsMessage: false,
    content: [],
  };
}

function spellMessage(message: Message, written: Written, words: SpellingWords): Spelled {
  if (isForOneTurn(message)) {
    const reason = "it was for one turn only, and here it would stay in sight";
    return toSpelled(message, [], written, [{ what: "a system message", reason }]);
  }
  const leftOut: LeftOut[] = [];
  const entries = words.entries(message, (block, reason) => {
    leftOut.push({ what: nameOf(block), reason });
  });
  const spelled = toSpelled(message, withAnswers(entries, written, words), written, leftOut);
  if (words.takesLaterSystem) return spelled;
  const openRole = openRoleOf(entries.at(-1), spelled.written);
  return { ...spelled, written: { ...spelled.written, openRole } };
}

/** Who said the last words, if more text may be added to them. */
function openRoleOf(last: Entry | undefined, { openRole }: Written): string | null {
  if (last === undefined) return openRole;
  if (last.role !== "user") return null;
  return last.pieces.at(-1)?.kind === "tool_result" ? "tool" : "user";
}

/** The entries, with an answer of the assistant wherever the user speaks right after a tool. */
function withAnswers(
  entries: readonly Entry[],
  { openRole }: Written,
  { afterTools }: SpellingWords,
): readonly Entry[] {
  if (afterTools === null) return entries;
  let isAfterTool = openRole === "tool";
  return entries.map((entry) => {
    const [first, ...rest] = entry.pieces;
    const isTool = first?.kind === "tool_result";
    const needsAnswer = isAfterTool && !isTool && entry.role === "user" && first !== undefined;
    isAfterTool = isTool;
    if (!needsAnswer) return entry;
    return { ...entry, pieces: [{ ...first, json: `${afterTools},${first.json}` }, ...rest] };
  });
}

/** From a protocol that clears such messages by itself. */
function isForOneTurn({ role, json }: Message): boolean {
  if (role !== "system" || json === undefined) return false;
  return "clear_at" in (parseFields(json) ?? {});
}

/**
 * Volatile text as a message of the application: after the user's own words it
 * is not a place where the provider ends a prefix automatically. Only kept text can carry a marker.
 */
function spellVolatile(
  text: string,
  how: VolatileForm,
  spell: (message: Message) => Spelled,
): Spelled {
  const message: Message = { role: "system", content: [{ type: "text", text }] };
  const spelled = spell(message);
  if (how === "kept") return { ...spelled, message };
  return {
    ...spelled,
    blocks: spelled.blocks.map((block) => ({ ...block, markerFromEnd: null })),
  };
}
