// Tools, system text and messages as both OpenAI protocols write them.
import type {
  LeftOut,
  Spelled,
  SpelledBlock,
  Spelling,
  VolatileForm,
  Written,
} from "../../assembly/spelling.ts";
import type { Block, JsonText, Message } from "../../message/message.ts";
import type { ToolDefinition } from "../../message/tool-definition.ts";
import { parseFields } from "../../message/fields.ts";
import { partOf, type PartWords } from "./parts.ts";
import {
  entryOfParts,
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
  /** How a message of parts begins. */
  readonly opens: Readonly<Record<PartSpeaker, string>>;
  readonly parts: PartWords;
  entries(message: Message, leave: Leave): readonly Entry[];
}

/** Roles whose messages are made of parts; tool results go into user messages. */
type PartSpeaker = "system" | "user";

export function toOpenaiSpelling(words: SpellingWords): Spelling {
  const message = (each: Message, written: Written): Spelled => spellMessage(each, written, words);
  return {
    tools: (tools) =>
      tools.map((tool, index) =>
        foundationBlock(words.tool(toolMembers(tool)), index, "tools", null),
      ),
    system: (blocks) =>
      blocks.map(({ text }, index) =>
        foundationBlock(`${words.opens.system}${words.parts.text(text)}]}`, index, "system", 3),
      ),
    message,
    volatile: (text, written, how) => spellVolatile(text, how, (each) => message(each, written)),
  };
}

/** The entries of a user, tool or application message: parts in one message, between the `alone` entries. */
export function partEntries(
  { role, content }: Pick<Message, "role" | "content">,
  { opens, parts: words }: Pick<SpellingWords, "opens" | "parts">,
  alone: (block: Block) => Entry | undefined,
  leave: Leave,
): readonly Entry[] {
  const entries: Entry[] = [];
  const speaker = role === "system" ? "system" : "user";
  let parts: Part[] = [];
  const flush = (): void => {
    if (parts.length > 0) entries.push(entryOfParts(speaker, opens[speaker], parts));
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

function asSystemText(part: Part): Part {
  return part.kind === "text" ? { ...part, kind: "system text" } : part;
}

function toolMembers({ name, description, inputSchemaJson }: ToolDefinition): string {
  return `"name":${toText(name)},"description":${toText(description)},"parameters":${inputSchemaJson}`;
}

function foundationBlock(
  json: JsonText,
  index: number,
  role: "tools" | "system",
  markerFromEnd: number | null,
): SpelledBlock {
  return {
    json: index === 0 ? json : `,${json}`,
    markerFromEnd,
    kind: role === "tools" ? "tool definition" : "system text",
    role,
    endsMessage: role === "system",
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
  return toSpelled(message, entries, written, leftOut);
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
