// Canonical tools, system text and messages → the bytes of a request, written so that more can be appended.
import { parseFields } from "../../message/fields.ts";
import type { Spelled, SpelledBlock, Spelling, Written } from "../../assembly/spelling.ts";
import { spellMessage } from "../../message/encode-message.ts";
import type { CompactionBlock, JsonText, Message } from "../../message/message.ts";
import { encodeToolDefinition, type ToolDefinition } from "../../message/tool-definition.ts";
import { isMemoryTool } from "../../memory/memory-tool.ts";
import type { ModelFacts } from "../../models/model-facts.ts";
import {
  advance,
  closingOf,
  foundationBlock,
  leaveOut,
  notTaken,
  spellOpen,
  spellPlainSummary,
  type MessageWords,
} from "../open-messages.ts";
import { repairCharacters, repairOf } from "../repair-characters.ts";
import { readToolChange, type ToolChange } from "../tool-changes.ts";
import { clearAtBeta, compactionBeta, inlineToolsBeta, toolChangesBeta } from "./schema.ts";
import { spellContent } from "./spell-content.ts";
import { withoutMarkers } from "./strip-markers.ts";

export function toSpelling(model: Pick<ModelFacts, "capabilities">): Spelling {
  const {
    midConversationSystem: takesSystem,
    midConversationTools: takesToolChanges,
    compactsOnDemand,
    ownMemoryTool,
  } = model.capabilities;
  const words: MessageWords = {
    markerFromEnd,
    content: (message) => spellContent(message, takesToolChanges),
  };
  const toolJson = (tool: ToolDefinition): JsonText =>
    ownMemoryTool && isMemoryTool(tool) ? memoryToolJson : encodeToolDefinition(tool);
  return {
    tools: (tools) =>
      tools.map((tool, index) => foundationBlock(toolJson(tool), index, "tools", words)),
    system: (blocks) =>
      blocks.map(({ text }, index) => foundationBlock(textJson(text), index, "system", words)),
    message: (message, written) => {
      if (message.role !== "system")
        return spellSaid(message, written, { words, compactsOnDemand });
      if (!takesSystem) return leaveOut(notTaken, written);
      const changes = message.content.flatMap((block) => readToolChange(block) ?? []);
      const isVerbatim = message.json !== undefined && (changes.length === 0 || takesToolChanges);
      const spelled = isVerbatim
        ? spellVerbatim(message, message.json, written)
        : spellOpen(message, written, words);
      return takesToolChanges ? withChangeBetas(spelled, changes) : spelled;
    },
    volatile: (text, written, how) => {
      const content = [{ type: "text" as const, text }];
      if (how === "kept" && takesSystem && text !== "") return spellCleared(content, written);
      if (how === "system message" && takesSystem) {
        return spellOpen({ role: "system", content }, written, words);
      }
      const message: Message = { role: "user", content };
      const spelled = spellOpen(message, written, words);
      return how === "kept" ? { ...spelled, message } : spelled;
    },
  };
}

/** Its description is with the provider. */
const memoryToolJson: JsonText = '{"type":"memory_20250818","name":"memory"}';

function textJson(text: string): JsonText {
  return `{"type":"text","text":${JSON.stringify(text)}}`;
}

/** A marker is a member of its block. */
const markerFromEnd = 1;

function withChangeBetas(spelled: Spelled, changes: readonly ToolChange[]): Spelled {
  if (changes.length === 0) return spelled;
  const changed = withBeta(spelled.written, toolChangesBeta);
  const defines = changes.some((change) => change.defines);
  return { ...spelled, written: defines ? withBeta(changed, inlineToolsBeta) : changed };
}

/** The provider accepts its signed summary only on models that compact, and only as the first block. */
function spellSaid(
  message: Message,
  written: Written,
  { words, compactsOnDemand: takesSummaries }: SaidWords,
): Spelled {
  const summary = signedSummary(message);
  if (summary === undefined) return spellOpen(message, written, words);
  if (takesSummaries && written.blockCount === 0) {
    const spelled = spellOpen(message, written, words);
    return { ...spelled, written: withBeta(spelled.written, compactionBeta) };
  }
  const reason = takesSummaries ? "it is not the first block" : "the model takes none on its route";
  return spellPlainSummary({ message, summary, reason }, written, words);
}

interface SaidWords {
  readonly words: MessageWords;
  readonly compactsOnDemand: boolean;
}

/** The signed summary at the start of a message; undefined if there is none. */
function signedSummary({ content }: Message): CompactionBlock | undefined {
  const [first] = content;
  return first?.type === "compaction" && (first.signature ?? "") !== "" ? first : undefined;
}

function withBeta(written: Written, beta: string): Written {
  return { ...written, betas: [...new Set([...(written.betas ?? []), beta])] };
}

/** The whole message as one closed block. A marker would have to go inside, so it carries none. */
function spellVerbatim(message: Message, json: JsonText, written: Written): Spelled {
  const fields = parseFields(json);
  if (fields === undefined) return leaveOut("it is not a JSON object", written);
  const clears = Object.hasOwn(fields, "clear_at");
  const repaired = repairCharacters(withoutMarkers(json));
  const block: SpelledBlock = {
    json: closingOf(written) + repaired.json,
    markerFromEnd: null,
    kind: clears ? "system message cleared at the next user message" : "text",
    role: "system",
    endsMessage: true,
    content: message.content,
    ...(clears ? { clearsAfterTurn: true } : {}),
  };
  const next = advance(written, null, message, 1);
  return {
    blocks: [block],
    written: clears ? withBeta(next, clearAtBeta) : next,
    leftOut: repaired.count === 0 ? [] : [repairOf("a system message", repaired.count)],
  };
}

function spellCleared(content: Message["content"], written: Written): Spelled {
  const bare: Message = { role: "system", content };
  const json = `${spellMessage(bare).slice(0, -1)},"clear_at":"next_user_message"}`;
  const message = { ...bare, json };
  return { ...spellVerbatim(message, json, written), message };
}
