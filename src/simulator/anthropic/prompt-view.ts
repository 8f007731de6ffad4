// Converts a request to the prompt of a simulated model.
import type { Prompt, PromptTool, PromptTurn } from "../prompt.ts";
import { compactJson, toPlainValue, type JsonObject } from "../json-source.ts";
import { textOr } from "./request/read-fields.ts";
import { childrenOf, typeOf, type ReadBlock } from "./request/read-blocks.ts";
import type { MessagesRequest, ReadMessage } from "./request/read-request.ts";
import { referencedTools } from "./render/render-text.ts";
import { toolChangeOf } from "./request/read-tools.ts";
import { isThinking } from "./request/validate-options.ts";

/** Builds tools and turns on demand: most models look only at the end of a long conversation. */
export function toPrompt(request: MessagesRequest, outputTokensMax: number): Prompt {
  const { facts, options, messages } = request;
  return {
    model: facts.id,
    wants: options.compaction === null ? "reply" : "summary",
    instructions: options.compaction?.instructions ?? null,
    system: request.system.map(({ json }) => textOr(json, "text", "")).join("\n\n"),
    get tools() {
      return visibleTools(request);
    },
    turns: messages.map(toTurn),
    outputTokensMax,
    thinks: isThinking(request),
    toolChoice: options.toolChoice,
  };
}

/** Tools the client runs: without removed ones, deferred ones not yet loaded, and tools the provider runs. */
function visibleTools({ tools, messages }: MessagesRequest): readonly PromptTool[] {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const visible = new Set(tools.flatMap(({ deferred, name }) => (deferred ? [] : [name])));
  for (const { json } of messages.flatMap(({ blocks }) => blocks)) {
    const change = toolChangeOf(json, byName);
    if (change === null) {
      for (const name of referencedTools(json)) visible.add(name);
      continue;
    }
    if (change.definition !== null) byName.set(change.name, change.definition);
    if (change.kind === "addition") visible.add(change.name);
    else visible.delete(change.name);
  }
  return [...byName.values()]
    .filter(({ name }) => visible.has(name))
    .flatMap(({ name, json }) => {
      const schema = json.fields.get("input_schema");
      if (schema === undefined) return [];
      return [
        { name, description: textOr(json, "description", ""), inputSchema: toPlainValue(schema) },
      ];
    });
}

function toTurn({ role, blocks }: ReadMessage): PromptTurn {
  return {
    role,
    get text() {
      return blocks.flatMap(saidText).join("\n");
    },
    get toolUses() {
      return blocks.filter(({ type }) => type === "tool_use").map(toToolUse);
    },
    get toolResults() {
      return blocks.filter(({ type }) => type === "tool_result").map(toToolResult);
    },
  };
}

function toToolUse({ json }: ReadBlock): PromptTurn["toolUses"][number] {
  const input = json.fields.get("input");
  return {
    id: textOr(json, "id", ""),
    name: textOr(json, "name", ""),
    inputJson: input === undefined ? "{}" : compactJson(input),
  };
}

function toToolResult({ json }: ReadBlock): PromptTurn["toolResults"][number] {
  const isError = json.fields.get("is_error");
  return {
    id: textOr(json, "tool_use_id", ""),
    text: innerText(json),
    isError: isError?.kind === "literal" && isError.value === true,
  };
}

function saidText({ type, json }: ReadBlock): readonly string[] {
  switch (type) {
    case "text":
      return [textOr(json, "text", "")];
    case "compaction":
      return [textOr(json, "content", "")];
    case "document":
    case "search_result":
      return [innerText(json)];
    default:
      return [];
  }
}

function innerText(block: JsonObject): string {
  const own = block.fields.get("content");
  if (own?.kind === "string") return own.text;
  const source = block.fields.get("source");
  const data =
    source?.kind === "object" && textOr(source, "type", "") === "text"
      ? textOr(source, "data", "")
      : "";
  const inside = childrenOf(block).map((child) =>
    typeOf(child) === "text" ? textOr(child, "text", "") : innerText(child),
  );
  return [data, ...inside].filter((text) => text !== "").join("\n");
}
