// What besides the blocks decides whether a prefix is found; an explicit default reads as absent.
import type { BillableRequest } from "../billing/billable-request.ts";
import type { JsonObject } from "../json-source.ts";
import { isCiting } from "./render-text.ts";
import { childrenOf, typeOf } from "./read-blocks.ts";
import type { MessagesRequest } from "./read-request.ts";
import { isThinking } from "./validate-options.ts";

export function settingsOf(request: MessagesRequest): BillableRequest["settings"] {
  const { options, tools, messages } = request;
  const { toolChoice, effort, outputFormat } = options;
  const blocks = messages.flatMap((message) => message.blocks.flatMap(({ json }) => family(json)));
  const thinking = thinkingSetting(request);
  return {
    ...(toolChoice === "auto"
      ? {}
      : { "tool choice": typeof toolChoice === "object" ? `tool ${toolChoice.name}` : toolChoice }),
    ...(options.parallelToolUse ? {} : { "parallel tool use": "off" }),
    ...(thinking === null ? {} : { thinking }),
    // High is what the provider does when nothing is said.
    ...(effort === null || effort === "high" ? {} : { effort }),
    ...(options.speed === "standard" ? {} : { speed: options.speed }),
    ...(outputFormat === null ? {} : { "output format": outputFormat }),
    ...(tools.some(({ isWebTool }) => isWebTool) ? { "web search or fetch": "on" } : {}),
    ...(blocks.some(({ fields }) => isCiting(fields.get("citations"))) ? { citations: "on" } : {}),
    ...(blocks.some((block) => typeOf(block) === "image")
      ? { "images appear or vanish": "images" }
      : {}),
  };
}

/** Only what differs from what the model does when nothing is said. */
function thinkingSetting(request: MessagesRequest): string | null {
  const { thinking } = request.options;
  const { thinkingAlwaysOn } = request.facts.capabilities;
  if (thinking === null) return null;
  if (thinking.type === "between_tools") return "between tools";
  if (!isThinking(request)) return thinkingAlwaysOn ? "off" : null;
  if (thinking.type === "enabled") return `${thinking.budgetTokens} tokens`;
  return thinkingAlwaysOn ? null : "adaptive";
}

function family(block: JsonObject): readonly JsonObject[] {
  return [block, ...childrenOf(block).flatMap(family)];
}
