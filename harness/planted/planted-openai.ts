// Renders a conversation for Chat Completions and Responses.
import {
  schema,
  type Json,
  type Part,
  type Spelled,
  type Spelling,
  type Talk,
} from "./planted-talk.ts";

export function spellOpenAi({ api, model, tools, system, turns, settings }: Talk): Spelling {
  const isChat = api === "chat";
  const list: Json[] = [];
  const spelled: Spelled[] = [];
  const at = (): string => `${isChat ? "messages" : "input"}.${list.length}`;
  const put = (tier: Spelled["tier"], path: string, node: Json): Json => {
    spelled.push({ tier, path, node });
    return node;
  };
  const say = (tier: Spelled["tier"], role: string, texts: readonly string[]): void => {
    if (texts.length === 0) return;
    const type = isChat ? "text" : role === "assistant" ? "output_text" : "input_text";
    const content = texts.map((text, place) =>
      put(tier, `${at()}.content.${place}`, { type, text }),
    );
    list.push({ ...(isChat ? {} : { type: "message" }), role, content });
  };
  const spelledTools = tools.map(({ name, description }, index) => {
    const tool = { name, description, parameters: schema };
    const node = isChat ? { function: tool } : { ...tool, strict: false };
    return put("tools", `tools.${index}`, { type: "function", ...node });
  });
  say("system", "developer", system);
  for (const { role, parts } of turns) {
    say(
      "messages",
      role,
      parts.flatMap((part) => (part.type === "text" ? [part.text] : [])),
    );
    const calls = parts.filter((part) => part.type === "call");
    if (isChat && calls.length > 0) list.push(chatCalls(list.pop() ?? {}, calls, list.length, put));
    else for (const call of calls) list.push(put("messages", at(), responsesCall(call)));
    for (const part of parts) {
      if (part.type !== "result") continue;
      const path = isChat ? `${at()}.content.0` : `${at()}.output.0`;
      list.push(put("messages", path, isChat ? chatResult(part) : responsesResult(part)));
    }
  }
  const effort =
    settings.effort &&
    (isChat ? { reasoning_effort: settings.effort } : { reasoning: { effort: settings.effort } });
  const choice = settings.toolChoice && { tool_choice: settings.toolChoice };
  const shown = tools.length > 0 && { tools: spelledTools };
  const body = { model, ...choice, ...effort, ...shown, [isChat ? "messages" : "input"]: list };
  return { body, spelled };
}

type Call = Extract<Part, { type: "call" }>;
type Result = Extract<Part, { type: "result" }>;

function chatCalls(
  message: Json,
  calls: readonly Call[],
  index: number,
  put: (tier: "messages", path: string, node: Json) => Json,
): Json {
  const tool_calls = calls.map(({ id, path }, place) =>
    put("messages", `messages.${index}.tool_calls.${place}`, {
      id,
      type: "function",
      function: { name: "tool_a", arguments: JSON.stringify({ path }) },
    }),
  );
  return { ...message, tool_calls };
}

function responsesCall({ id, path }: Call): Json {
  const call = { type: "function_call", call_id: id, name: "tool_a" };
  return { ...call, arguments: JSON.stringify({ path }) };
}

function chatResult({ id, text }: Result): Json {
  return { role: "tool", tool_call_id: id, content: text };
}

function responsesResult({ id, text }: Result): Json {
  return { type: "function_call_output", call_id: id, output: text };
}
