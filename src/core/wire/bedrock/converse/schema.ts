// The provider's JSON: requests as we write them, and what its blocks are to us.
import { assert } from "../../../assert.ts";
import type { BlockKind } from "../../../assembly/prompt-block.ts";
import type { JsonText } from "../../../message/message.ts";
import type { Lifetime } from "../../../message/usage.ts";

/** A request. Blocks that came from the provider and that we do not know are kept verbatim. */
export interface ConverseRequest {
  toolConfig?: {
    tools: (CachePoint | { toolSpec: ToolSpec })[];
    toolChoice?: { auto: object } | { any: object } | { tool: { name: string } };
  };
  system?: (CachePoint | { text: string })[];
  messages: { role: "user" | "assistant" | "system"; content: (CachePoint | Content)[] }[];
  inferenceConfig: { maxTokens: number; temperature?: number; stopSequences?: string[] };
  /** Members of the model vendor's own API. */
  additionalModelRequestFields?: Record<string, unknown>;
  outputConfig?: {
    effort?: string;
    textFormat?: {
      type: "json_schema";
      structure: { jsonSchema: { schema: string; name: string } };
    };
  };
}

interface CachePoint {
  cachePoint: { type: "default"; ttl?: "5m" | "1h" };
}

interface ToolSpec {
  name: string;
  description?: string;
  inputSchema: { json: Record<string, unknown> };
}

type Content =
  | { text: string }
  | { image: { format: string; source: Source } }
  | { document: { format: string; name: string; source: Source | { text: string } } }
  | { toolUse: { toolUseId: string; name: string; input: unknown } }
  | { toolResult: { toolUseId: string; content: Content[]; status?: "error" } }
  | { reasoningContent: { reasoningText: { text: string; signature: string } } }
  | { reasoningContent: { redactedContent: string } }
  | { toolAddition: { tool: ToolReference } }
  | { toolRemoval: { tool: ToolReference } };

interface ToolReference {
  name: string;
  serverName?: string;
}

type Source = { bytes: string } | { s3Location: { uri: string } };

/** A marker is a block of its own, after what it ends. Five minutes is the provider's default. */
export function cachePointJson(lifetime: Lifetime): JsonText {
  assert(lifetime === "5m" || lifetime === "1h", `no cache point lives for ${lifetime}`);
  const ttl = lifetime === "5m" ? "" : ',"ttl":"1h"';
  return `{"cachePoint":{"type":"default"${ttl}}}`;
}

/** A block has one member, whose name is its type. */
const kinds: ReadonlyMap<string, BlockKind> = new Map([
  ["text", "text"],
  ["image", "image"],
  ["document", "document"],
  ["video", "document"],
  ["audio", "document"],
  ["searchResult", "document"],
  ["toolUse", "tool_use"],
  ["toolResult", "tool_result"],
  ["reasoningContent", "thinking"],
  ["citationsContent", "text"],
  ["guardContent", "text"],
  ["toolAddition", "server tool block"],
  ["toolRemoval", "server tool block"],
]);

/** Undefined for a name that is none of a block's. */
export function kindOfMember(name: string): BlockKind | undefined {
  return kinds.get(name);
}

/** The name of a block's only member; undefined if there is another, or if it is none of ours. */
export function memberOfBlock(names: Iterable<string>): string | undefined {
  const [name = "", ...others] = names;
  return kinds.has(name) && others.length === 0 ? name : undefined;
}
