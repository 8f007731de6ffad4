// Renders a conversation for the Messages API, with markers.
import { spellOpenAi } from "./planted-openai.ts";
import {
  schema,
  type Json,
  type Layout,
  type Part,
  type Rendered,
  type Spelled,
  type Spelling,
  type Talk,
} from "./planted-talk.ts";

export function renderTalk(talk: Talk): Rendered {
  const { body, spelled } = talk.api === "messages" ? spellMessages(talk) : spellOpenAi(talk);
  const blocks = spelled.map(({ path, tier, node }) => ({
    path,
    tier,
    text: JSON.stringify(node),
  }));
  const marked = placeMarkers(talk.layout, spelled, body);
  return { body: JSON.stringify(body), blocks, marked };
}

/** The first different block; -1 if one is a prefix of the other. */
export function firstDifference(before: Rendered, now: Rendered): number {
  return before.blocks.findIndex(({ text }, index) => text !== now.blocks[index]?.text);
}

function placeMarkers(layout: Layout, spelled: readonly Spelled[], body: Json): number[] {
  const last = spelled.length - 1;
  const system = spelled.findLastIndex(({ tier }) => tier === "system");
  const tools = spelled.findLastIndex(({ tier }) => tier === "tools");
  const mark = (block: number, ttl?: "1h"): number => {
    const node = spelled[block]?.node;
    if (node !== undefined) node["cache_control"] = { type: "ephemeral", ...(ttl && { ttl }) };
    return block;
  };
  switch (layout) {
    case "own":
      return [last];
    case "system and tail":
      return [mark(system), mark(last)];
    case "tail":
      return [mark(last)];
    case "tail for an hour":
      return [mark(last, "1h")];
    case "system and two tails":
      return [mark(system), mark(Math.max(system, last - 2)), mark(last)];
    case "tools, system for an hour, tail":
      return [...(tools < 0 ? [] : [mark(tools, "1h")]), mark(system, "1h"), mark(last)];
    case "whole request":
      body["cache_control"] = { type: "ephemeral" };
      return [last];
    case "system":
      return [mark(system)];
    case "before the last block":
      return [mark(last - 1)];
  }
}

function spellMessages({ model, tools, system, turns, settings }: Talk): Spelling {
  const spelled: Spelled[] = [];
  const put = (tier: Spelled["tier"], path: string, node: Json): Json => {
    spelled.push({ tier, path, node });
    return node;
  };
  const body: Json = {
    model,
    max_tokens: 64,
    ...(settings.toolChoice && { tool_choice: { type: settings.toolChoice } }),
    ...(settings.effort && { output_config: { effort: settings.effort } }),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description }, index) =>
        put("tools", `tools.${index}`, { name, description, input_schema: schema }),
      ),
    }),
    system: system.map((text, index) => put("system", `system.${index}`, { type: "text", text })),
    messages: turns.map(({ role, parts }, index) => ({
      role,
      content: parts.map((part, place) =>
        put("messages", `messages.${index}.content.${place}`, spellPart(part)),
      ),
    })),
  };
  return { body, spelled };
}

function spellPart(part: Part): Json {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "call":
      return { type: "tool_use", id: part.id, name: "tool_a", input: { path: part.path } };
    case "result":
      return { type: "tool_result", tool_use_id: part.id, content: part.text };
  }
}
