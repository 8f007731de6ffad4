// Renders the prompt in order of tools, system and messages, one unit per block.
import type { PromptCounter } from "../../count-tokens.ts";
import type { BilledTier } from "../../billing/billable-request.ts";
import { blockTokens, toolTokens, type TokenScale } from "./block-tokens.ts";
import { hashText } from "../../ids.ts";
import { compactJson, type JsonObject } from "../../json-source.ts";
import type { ReadBlock, ReadMark } from "../request/read-blocks.ts";
import type { MessagesRequest, ReadMessage } from "../request/read-request.ts";
import type { ReadTool, ToolsByName } from "../request/read-tools.ts";
import { renderBlock, renderTool } from "./render-text.ts";

export interface PromptUnit {
  readonly path: string;
  readonly origin: "tools" | "system" | "messages";
  readonly tier: BilledTier;
  readonly role: "tools" | "system" | ReadMessage["role"];
  readonly type: string;
  readonly json: JsonObject;
  readonly hash: string;
  readonly tokens: number;
  readonly marks: readonly ReadMark[];
  /** Whether automatic caching can end a prefix here. */
  readonly mayBeMarked: boolean;
}

/** Every block of the request, before thinking is filtered. */
export function renderUnits(request: MessagesRequest, counter: PromptCounter): PromptUnit[] {
  const scale: TokenScale = { counter, tokenizer: request.facts.tokenizer };
  const byName = new Map(request.tools.map((tool) => [tool.name, tool]));
  const shown = request.tools.filter(({ deferred }) => !deferred);
  const lastUser = request.messages.findLastIndex(({ role }) => role === "user");
  return [
    ...shown.filter(({ isWebTool }) => !isWebTool).map((tool) => toolUnit(tool, "tools", scale)),
    ...shown.filter(({ isWebTool }) => isWebTool).map((tool) => toolUnit(tool, "system", scale)),
    ...request.system.map((block) => blockUnit(block, "system", "system", scale, byName)),
    ...request.messages.flatMap((message) =>
      messageUnits(message, message.index < lastUser, scale, byName),
    ),
  ];
}

/** The hash that a block of an assistant message will have when it is sent back. */
export function assistantHash(block: JsonObject, tools: ToolsByName): string {
  return hashText("assistant", renderBlock(block, tools));
}

function toolUnit(tool: ReadTool, tier: BilledTier, scale: TokenScale): PromptUnit {
  return {
    path: tool.path,
    origin: "tools",
    tier,
    role: "tools",
    type: "tool",
    json: tool.json,
    hash: hashText("tool", renderTool(tool)),
    tokens: toolTokens(tool, scale),
    marks: tool.mark === null ? [] : [tool.mark],
    mayBeMarked: true,
  };
}

/** A system message for one turn stays in the prefix and costs nothing after it is cleared. */
function messageUnits(
  message: ReadMessage,
  hasLaterUser: boolean,
  scale: TokenScale,
  tools: ToolsByName,
): PromptUnit[] {
  const { role, blocks, outputConfig, clearsAtNextUser } = message;
  const units = blocks.map((block) => blockUnit(block, "messages", role, scale, tools));
  const shown = clearsAtNextUser
    ? units.map((unit) => ({
        ...unit,
        tokens: hasLaterUser ? 0 : unit.tokens,
        mayBeMarked: false,
      }))
    : units;
  return outputConfig === null ? shown : [configUnit(message, outputConfig), ...shown];
}

/** Settings among the messages cost no tokens, but the prefix after them depends on them. */
function configUnit({ index, role }: ReadMessage, json: JsonObject): PromptUnit {
  const at = { path: `messages.${index}.output_config`, type: "output_config", role, json };
  const hash = hashText(role, "output_config", compactJson(json));
  const marks = { marks: [], mayBeMarked: false };
  return { ...at, origin: "messages", tier: "messages", hash, tokens: 0, ...marks };
}

function blockUnit(
  { path, type, json, marks }: ReadBlock,
  origin: "system" | "messages",
  role: ReadMessage["role"],
  scale: TokenScale,
  tools: ToolsByName,
): PromptUnit {
  return {
    path,
    origin,
    tier: origin,
    role,
    type,
    json,
    hash: hashText(role, renderBlock(json, tools)),
    tokens: blockTokens(json, scale, tools),
    marks,
    mayBeMarked: type !== "thinking" && type !== "redacted_thinking",
  };
}
