// Spells a conversation as the body of Converse, and as that of Messages, for the bills of clouds to be compared.
import type { Piece, Talk } from "./random-talks.ts";

type Body = Readonly<Record<string, unknown>>;

export function spellConverse({ tools, system, turns }: Talk): Body {
  return {
    ...(system.length === 0 ? {} : { system: system.flatMap(converseBlocks) }),
    ...(tools.length === 0 ? {} : { toolConfig: { tools: tools.flatMap(converseBlocks) } }),
    messages: turns.map((pieces, turn) => ({
      role: turn % 2 === 0 ? "user" : "assistant",
      content: pieces.flatMap(converseBlocks),
    })),
  };
}

/** A cache point stands after what it marks; five minutes need not be written. */
function converseBlocks({ kind, text, mark }: Piece): readonly Body[] {
  const point = { type: "default", ...(mark === "1h" ? { ttl: mark } : {}) };
  return [converseBlock(kind, text), ...(mark === null ? [] : [{ cachePoint: point }])];
}

function converseBlock(kind: Piece["kind"], text: string): Body {
  switch (kind) {
    case "tool":
      return {
        toolSpec: { name: text, description: text, inputSchema: { json: { type: "object" } } },
      };
    case "text":
      return { text };
    case "use":
      return { toolUse: { toolUseId: text, name: "any", input: { text } } };
    case "result":
      return { toolResult: { toolUseId: text, content: [{ text: `Result of ${text}` }] } };
  }
}

export function spellMessages({ tools, system, turns }: Talk): Body {
  return {
    ...(system.length === 0 ? {} : { system: system.map(messagesBlock) }),
    ...(tools.length === 0 ? {} : { tools: tools.map(messagesBlock) }),
    messages: turns.map((pieces, turn) => ({
      role: turn % 2 === 0 ? "user" : "assistant",
      content: pieces.map(messagesBlock),
    })),
  };
}

function messagesBlock({ kind, text, mark }: Piece): Body {
  const control = { type: "ephemeral", ...(mark === "1h" ? { ttl: mark } : {}) };
  const marks = mark === null ? {} : { cache_control: control };
  switch (kind) {
    case "tool":
      return { name: text, description: text, input_schema: { type: "object" }, ...marks };
    case "text":
      return { type: "text", text, ...marks };
    case "use":
      return { type: "tool_use", id: text, name: "any", input: { text }, ...marks };
    case "result": {
      const content = [{ type: "text", text: `Result of ${text}` }];
      return { type: "tool_result", tool_use_id: text, content, ...marks };
    }
  }
}
