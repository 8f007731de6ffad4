// How tools, system text and messages are written for generateContent, so that more can be appended.
import type { PromptRole } from "../../assembly/prompt-block.ts";
import type { LeftOut, Spelled, SpelledBlock, Spelling, Written } from "../../assembly/spelling.ts";
import { parseFields } from "../../message/fields.ts";
import type { Block, JsonText, Message } from "../../message/message.ts";
import type { ModelFacts } from "../../models/model-facts.ts";
import {
  spellPart,
  spellReply,
  spellResult,
  toText,
  type Abilities,
  type SpelledPart,
} from "./spell-said.ts";

/**
 * Every message is a content of its own. Only the results of one reply's calls must stand together, so their content stays open:
 * the next message closes it, or the encoder after the last one.
 */
export function geminiSpelling({ capabilities: can }: Pick<ModelFacts, "capabilities">): Spelling {
  return {
    tools: (tools) =>
      tools.map(({ name, description, inputSchemaJson }, index) => {
        const named = `"name":${toText(name)},"description":${toText(description)}`;
        const json = `{${named},"parametersJsonSchema":${inputSchemaJson}}`;
        return foundationBlock(json, index, "tools");
      }),
    system: (blocks) =>
      blocks.map(({ text }, index) => foundationBlock(`{"text":${toText(text)}}`, index, "system")),
    message: (message, written) => spellMessage(message, written, can),
    volatile: (text, written, how) => {
      const message: Message = { role: "user", content: [{ type: "text", text }] };
      const spelled = spellMessage(message, written, can);
      return how === "kept" ? { ...spelled, message } : spelled;
    },
  };
}

function foundationBlock(json: JsonText, index: number, role: "tools" | "system"): SpelledBlock {
  return {
    json: index === 0 ? json : `,${json}`,
    markerFromEnd: null,
    kind: role === "tools" ? "tool definition" : "system text",
    role,
    endsMessage: false,
    content: [],
  };
}

function spellMessage(message: Message, written: Written, can: Abilities): Spelled {
  if (isForOneTurn(message)) {
    const reason = "it was for one turn only, and here it would stay in sight";
    return { blocks: [], written, leftOut: [{ what: "a system message", reason }] };
  }
  if (message.role !== "assistant") return spellHeard(message, written, can);
  const { parts, leftOut, calls } = spellReply(message.content, can);
  const blocks = toContent(parts, written, "assistant");
  if (blocks.length === 0) return { blocks, written, leftOut };
  const next = advance(written, message, blocks.length);
  return { blocks, written: { ...next, calls }, leftOut };
}

/** From a protocol that clears such messages by itself. */
function isForOneTurn({ role, json }: Message): boolean {
  if (role !== "system" || json === undefined) return false;
  return "clear_at" in (parseFields(json) ?? {});
}

/** Results of tools stand in contents of their own, apart from words. */
function spellHeard(message: Message, written: Written, can: Abilities): Spelled {
  const leftOut: LeftOut[] = [];
  const blocks: SpelledBlock[] = [];
  let now = written;
  for (const { isResults, content } of runsOf(message.content)) {
    const parts = content.flatMap((block): readonly SpelledPart[] => {
      const part =
        block.type === "tool_result"
          ? spellResult(block, now, can, leftOut)
          : spellPart(block, leftOut);
      return part === undefined ? [] : [part];
    });
    const more = isResults ? toResults(parts, now) : toContent(parts, now, "user");
    if (more.length === 0) continue;
    blocks.push(...more.map((block) => ({ ...block, endsMessage: false })));
    now = { ...advance(now, message, more.length), openRole: isResults ? "tool" : null };
  }
  const last = blocks.length - 1;
  const ended = blocks.map((block, index) => ({ ...block, endsMessage: index === last }));
  return { blocks: ended, written: now, leftOut };
}

interface Run {
  readonly isResults: boolean;
  readonly content: readonly Block[];
}

function runsOf(content: readonly Block[]): readonly Run[] {
  const runs: { isResults: boolean; content: Block[] }[] = [];
  for (const block of content) {
    const isResults = block.type === "tool_result";
    const last = runs.at(-1);
    if (last?.isResults === isResults) last.content.push(block);
    else runs.push({ isResults, content: [block] });
  }
  return runs;
}

/** A closed content. */
function toContent(
  parts: readonly SpelledPart[],
  written: Written,
  role: Extract<PromptRole, "user" | "assistant">,
): readonly SpelledBlock[] {
  const open = `${closingOf(written)}{"role":"${role === "user" ? "user" : "model"}","parts":[`;
  const last = parts.length - 1;
  return parts.map((part, index) => {
    const json = `${index === 0 ? open : ","}${part.json}${index === last ? contentEnd : ""}`;
    return { ...part, json, role, markerFromEnd: null, endsMessage: index === last };
  });
}

/** An open content, or more of one. */
function toResults(parts: readonly SpelledPart[], written: Written): readonly SpelledBlock[] {
  const isOpen = written.openRole !== null;
  return parts.map((part, index) => {
    const open = isOpen || index > 0 ? "," : `${closingOf(written)}{"role":"user","parts":[`;
    const json = `${open}${part.json}`;
    return { ...part, json, role: "user", markerFromEnd: null, endsMessage: false };
  });
}

function closingOf({ openRole, blockCount }: Written): string {
  if (openRole !== null) return `${contentEnd},`;
  return blockCount === 0 ? "" : ",";
}

/** Closes a content. */
export const contentEnd = "]}";

function advance(written: Written, { role }: Message, blocks: number): Written {
  const blockCount = written.blockCount + blocks;
  return { ...written, openRole: null, lastRole: role, blockCount };
}
