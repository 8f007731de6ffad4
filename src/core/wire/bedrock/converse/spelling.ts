// Canonical tools, system text and messages → the bytes of a Converse request, written so that more can be appended.
import type { Spelled, Spelling, Written } from "../../../assembly/spelling.ts";
import type { JsonText, Message } from "../../../message/message.ts";
import type { ToolDefinition } from "../../../message/tool-definition.ts";
import type { ModelFacts } from "../../../models/model-facts.ts";
import {
  foundationBlock,
  leaveOut,
  notTaken,
  spellOpen,
  spellPlainSummary,
  type MessageWords,
} from "../../open-messages.ts";
import { spellContent, textJson } from "./spell-content.ts";

export function toSpelling(model: Pick<ModelFacts, "capabilities">): Spelling {
  const { midConversationSystem: takesSystem, midConversationTools } = model.capabilities;
  const words: MessageWords = {
    markerFromEnd,
    content: (message) => spellContent(message, midConversationTools),
  };
  return {
    tools: (tools) =>
      tools.map((tool, index) => foundationBlock(toolJson(tool), index, "tools", words)),
    system: (blocks) =>
      blocks.map(({ text }, index) => foundationBlock(textJson(text), index, "system", words)),
    message: (message, written) => {
      if (message.role !== "system") return spellSaid(message, written, words);
      return takesSystem ? spellOpen(message, written, words) : leaveOut(notTaken, written);
    },
    volatile: (text, written, how) => {
      const isSystem = how === "system message" && takesSystem;
      const role = isSystem ? "system" : "user";
      const message: Message = { role, content: [{ type: "text", text }] };
      const spelled = spellOpen(message, written, words);
      return how === "kept" ? { ...spelled, message } : spelled;
    },
  };
}

/** A marker is a block of its own after its block. */
const markerFromEnd = 0;

/** The provider takes no description without a word. */
function toolJson({ name, description, inputSchemaJson }: ToolDefinition): JsonText {
  const described =
    description.trim() === "" ? "" : `,"description":${JSON.stringify(description)}`;
  const schema = `"inputSchema":{"json":${inputSchemaJson}}`;
  return `{"toolSpec":{"name":${JSON.stringify(name)}${described},${schema}}}`;
}

/** A summary of another API begins a conversation, which must not begin with the model. */
function spellSaid(message: Message, written: Written, words: MessageWords): Spelled {
  const [summary] = message.content;
  if (summary?.type !== "compaction") return spellOpen(message, written, words);
  const reason = "the provider takes summaries as text only";
  return spellPlainSummary({ message, summary, reason }, written, words);
}
