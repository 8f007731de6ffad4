// What vendors refuse that OpenAI takes, in their words.
import { isFields, type Fields } from "../../core/models/read-fields.ts";

/** An answer in the vendor's own form, or a message that is put into it. */
export interface VendorRefusal {
  readonly status: number;
  readonly message: string;
  readonly type?: string;
  readonly code?: string;
  /** Where a vendor answers this in another form than its other errors. */
  readonly body?: object;
}

/** Null if the request is taken. */
type Check = (body: Fields, messages: readonly Fields[]) => VendorRefusal | null;

const mistralMembers: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "max_tokens",
  "stream",
  "temperature",
  "top_p",
  "stop",
  "random_seed",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "response_format",
  "prompt_cache_key",
  "presence_penalty",
  "frequency_penalty",
  "n",
  "prediction",
  "prompt_mode",
  "safe_prompt",
  "metadata",
  "guardrails",
  "reasoning_effort",
]);

const mistralMessageMembers: ReadonlySet<string> = new Set([
  "role",
  "content",
  "tool_calls",
  "tool_call_id",
  "name",
  "prefix",
]);

/** A template of a Qwen model: one system message, at the start, and no developer. */
const refuseByTemplate: Check = (_, messages) => {
  if (messages.some(({ role }) => role === "developer")) return refused("Unexpected message role.");
  const late = messages.findLastIndex(({ role }) => role === "system") > 0;
  return late ? refused("System message must be at the beginning.") : null;
};

export const refusalNames = [
  "other roles",
  "odd roles",
  "a template",
  "a template, by a crash",
  "lists of parts",
  "calls without thinking",
  "calls without thinking by index",
  "a schema",
  "a schema by number",
  "an effort",
  "max_completion_tokens",
  "extra members",
  "odd call ids",
  "users after tools",
] as const;

export type RefusalName = (typeof refusalNames)[number];

const checks: Readonly<Record<RefusalName, Check>> = {
  "other roles": (_, messages) => {
    const at = messages.findIndex(({ role }) => !knownRoles.has(role));
    if (at === -1) return null;
    const role = String(messages[at]?.["role"]);
    return refused(
      `Failed to deserialize the JSON body into the target type: messages[${at}].role: unknown variant \`${role}\`, expected one of \`system\`, \`user\`, \`assistant\`, \`tool\`, \`latest_reminder\` at line 1 column 85`,
    );
  },
  "odd roles": (_, messages) => {
    const odd = messages.find(({ role }) => !knownRoles.has(role));
    return odd === undefined
      ? null
      : refused(
          `invalid role: "${String(odd["role"])}", role must be one of ["system", "user", "assistant", "tool"]`,
        );
  },
  "a template": refuseByTemplate,
  "a template, by a crash": (body, messages) => {
    const refusal = refuseByTemplate(body, messages);
    return refusal === null
      ? null
      : { status: 500, message: `Jinja Exception: ${refusal.message}`, type: "server_error" };
  },
  "lists of parts": (_, messages) =>
    messages.some(({ content }) => Array.isArray(content))
      ? {
          status: 500,
          message: "[json.exception.type_error.302] type must be string, but is array",
          type: "server_error",
        }
      : null,
  "calls without thinking": (body, messages) =>
    firstWithoutThinking(body, messages) === -1
      ? null
      : refused("The `reasoning_content` in the thinking mode must be passed back to the API."),
  "calls without thinking by index": (body, messages) => {
    const at = firstWithoutThinking(body, messages);
    return at === -1
      ? null
      : refused(
          `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${at}`,
        );
  },
  "a schema": (body) =>
    hasSchema(body) ? refused("This response_format type is unavailable now") : null,
  "a schema by number": (body) =>
    hasSchema(body) ? { ...refused("Invalid API parameter"), code: "1210" } : null,
  "an effort": (body) =>
    body["reasoning_effort"] === undefined
      ? null
      : refused(`Model ${String(body["model"])} does not support parameter reasoningEffort.`),
  max_completion_tokens: (body) => {
    const input = body["max_completion_tokens"];
    return input === undefined
      ? null
      : refused(
          `[{'type': 'extra_forbidden', 'loc': ('body', 'max_completion_tokens'), 'msg': 'Extra inputs are not permitted', 'input': ${JSON.stringify(input)}}]`,
        );
  },
  "extra members": (body, messages) => {
    const extra =
      Object.keys(body).find((name) => !mistralMembers.has(name)) ??
      messages.flatMap(Object.keys).find((name) => !mistralMessageMembers.has(name));
    if (extra === undefined) return null;
    const input = body[extra];
    const detail = [
      {
        type: "extra_forbidden",
        loc: ["body", extra],
        msg: "Extra inputs are not permitted",
        input,
      },
    ];
    const type = "invalid_request_error";
    const form = { object: "error", message: { detail }, type, param: null, code: null };
    return { status: 422, message: "Extra inputs are not permitted", body: form };
  },
  "odd call ids": (_, messages) => {
    const ids = messages.flatMap(callsOf).map(({ id }) => String(id));
    const odd = ids.find((id) => !/^[a-zA-Z0-9]{9}$/.test(id));
    return odd === undefined
      ? null
      : {
          ...refused(`Tool call id was ${odd} but must be a-z, A-Z, 0-9, with a length of 9.`),
          type: "invalid_function_call",
          code: "3280",
        };
  },
  "users after tools": (_, messages) => {
    const at = messages.findIndex(
      ({ role }, index) =>
        role !== "tool" && role !== "assistant" && messages[index - 1]?.["role"] === "tool",
    );
    return at === -1
      ? null
      : {
          ...refused(`Unexpected role '${String(messages[at]?.["role"])}' after role 'tool'`),
          type: "invalid_request_message_order",
          code: "3230",
        };
  },
};

/** The first of these that the request meets. */
export function findRefusal(names: readonly RefusalName[], body: Fields): VendorRefusal | null {
  const given = body["messages"];
  const messages = Array.isArray(given) ? given.filter(isFields) : [];
  for (const name of names) {
    const refusal = checks[name](body, messages);
    if (refusal !== null) return refusal;
  }
  return null;
}

const knownRoles: ReadonlySet<unknown> = new Set(["system", "user", "assistant", "tool"]);

function refused(message: string): VendorRefusal {
  return { status: 400, message };
}

/** The first message with tool calls and without the thinking before them; -1 for none, and where thinking is off. */
function firstWithoutThinking(body: Fields, messages: readonly Fields[]): number {
  const { thinking } = body;
  if (isFields(thinking) && thinking["type"] === "disabled") return -1;
  return messages.findIndex(
    (message) => callsOf(message).length > 0 && typeof message["reasoning_content"] !== "string",
  );
}

function callsOf(message: Fields): readonly Fields[] {
  const calls = message["tool_calls"];
  return Array.isArray(calls) ? calls.filter(isFields) : [];
}

function hasSchema({ response_format: format }: Fields): boolean {
  return isFields(format) && format["type"] === "json_schema";
}
