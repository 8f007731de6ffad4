// A prompt of the AI SDK → tools, system text and messages, each block with its place in the prompt.
import type { SystemBlock } from "../../core/assembly/system-blocks.ts";
import type { Block, Message } from "../../core/message/message.ts";
import { toToolDefinition, type ToolDefinition } from "../../core/message/tool-definition.ts";
import { toBlock } from "./read-part.ts";
import type { SdkMessage, SdkParams, SdkTool } from "./sdk-call.ts";

export interface ReadPrompt {
  readonly tools: readonly ToolDefinition[];
  /** The place of each tool; null if it takes no options. */
  readonly toolPlaces: readonly (Place | null)[];
  readonly system: readonly SystemBlock[];
  /** The place of each block of the system text. */
  readonly systemPlaces: readonly Place[];
  readonly messages: readonly PlacedMessage[];
}

export interface PlacedMessage {
  readonly message: Message;
  /** The place of each block. */
  readonly places: readonly Place[];
}

/** Something that takes options: a tool, a whole message, or a part of one. */
export type Place =
  | { readonly in: "tools"; readonly index: number }
  | { readonly in: "prompt"; readonly index: number; readonly part: number | null };

export function readPrompt({ prompt, tools = [] }: SdkParams): ReadPrompt {
  const firstSaid = prompt.findIndex(({ role }) => role !== "system");
  const said = firstSaid === -1 ? prompt.length : firstSaid;
  const system = prompt.slice(0, said).flatMap(({ content }, index) => {
    if (typeof content !== "string" || content.trim() === "") return [];
    const block: SystemBlock = { label: `system ${index + 1}`, tier: "T1", text: content };
    const place: Place = { in: "prompt", index, part: null };
    return [{ block, place }];
  });
  return {
    tools: tools.map(toDefinition),
    toolPlaces: tools.map(({ type }, index) =>
      type === "function" ? { in: "tools", index } : null,
    ),
    system: system.map(({ block }) => block),
    systemPlaces: system.map(({ place }) => place),
    messages: prompt.flatMap((message, index) => (index < said ? [] : toMessages(message, index))),
  };
}

/** A provider's own tool has only a name and settings. */
function toDefinition(tool: SdkTool): ToolDefinition {
  if (tool.type === "provider") {
    const { name, id, args } = tool;
    return toToolDefinition({ name, description: id, inputSchema: args });
  }
  const { name, description = "", inputSchema } = tool;
  return toToolDefinition({ name, description, inputSchema: { ...inputSchema } });
}

/** One message for each tool result, as everywhere here. */
function toMessages({ role, content }: SdkMessage, index: number): readonly PlacedMessage[] {
  if (typeof content === "string") {
    const places: readonly Place[] = [{ in: "prompt", index, part: null }];
    return content.trim() === ""
      ? []
      : [{ message: { role, content: [{ type: "text", text: content }] }, places }];
  }
  const blocks = content.flatMap((part, at): readonly PlacedBlock[] => {
    const block = toBlock(part);
    return block === null ? [] : [{ block, place: { in: "prompt", index, part: at } }];
  });
  if (blocks.length === 0) return [];
  if (role === "tool") return blocks.map((each) => toPlaced(role, [each]));
  return [toPlaced(role, blocks)];
}

interface PlacedBlock {
  readonly block: Block;
  readonly place: Place;
}

function toPlaced(role: Message["role"], blocks: readonly PlacedBlock[]): PlacedMessage {
  return {
    message: { role, content: blocks.map(({ block }) => block) },
    places: blocks.map(({ place }) => place),
  };
}
