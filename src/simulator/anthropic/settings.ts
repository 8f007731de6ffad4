// Settings that decide whether a prefix is found. Explicit defaults count as absent.
import type { BillableRequest } from "../billing/billable-request.ts";
import type { JsonObject } from "../json-source.ts";
import { isCiting } from "./render/render-text.ts";
import { childrenOf, typeOf } from "./request/read-blocks.ts";
import type { MessagesRequest } from "./request/read-request.ts";

export function settingsOf(request: MessagesRequest): BillableRequest["settings"] {
  const { options, tools, messages } = request;
  const { toolChoice, effort, outputFormat } = options;
  const hasBlock = (isWanted: (block: JsonObject) => boolean): boolean =>
    messages.some(({ blocks }) => blocks.some(({ json }) => isInFamily(json, isWanted)));
  const thinking = thinkingSetting(request);
  return {
    ...(toolChoice === "auto"
      ? {}
      : { "tool choice": typeof toolChoice === "object" ? `tool ${toolChoice.name}` : toolChoice }),
    ...(options.parallelToolUse ? {} : { "parallel tool use": "off" }),
    ...(thinking === null ? {} : { thinking }),
    // High is the provider's default.
    ...(effort === null || effort === "high" ? {} : { effort }),
    ...(options.speed === "standard" ? {} : { speed: options.speed }),
    ...(outputFormat === null ? {} : { "output format": outputFormat }),
    ...(tools.some(({ isWebTool }) => isWebTool) ? { "web search or fetch": "on" } : {}),
    ...(hasBlock(({ fields }) => isCiting(fields.get("citations"))) ? { citations: "on" } : {}),
    ...(hasBlock((block) => typeOf(block) === "image")
      ? { "images appear or vanish": "images" }
      : {}),
  };
}

/** Null for the model's default. */
function thinkingSetting({ options, facts }: MessagesRequest): string | null {
  const { thinkingByDefault } = facts.capabilities;
  switch (options.thinking?.type) {
    case undefined:
      return null;
    case "adaptive":
      return thinkingByDefault ? null : "adaptive";
    case "disabled":
      return thinkingByDefault ? "off" : null;
    case "enabled":
      return `${options.thinking.budgetTokens} tokens`;
    case "between_tools":
      return "between tools";
  }
}

/** Whether the block or one inside it is wanted. */
function isInFamily(block: JsonObject, isWanted: (block: JsonObject) => boolean): boolean {
  return isWanted(block) || childrenOf(block).some((child) => isInFamily(child, isWanted));
}
