// What servers of Chat Completions refuse and report. The words of refusals are from public reports; see wires.json.
import type { Body, Counts, Dialect, Refusal, SaidMessage } from "./strict-server.ts";

const usual = { callId: "call_00_IhNDqplrzL8xiABtVfI2K7hz", thinks: false };

/** Reports in the details of the prompt, as OpenAI does. */
function inDetails({ prompt, read, written, output, thinking }: Counts): Body {
  return {
    choices: [],
    usage: {
      prompt_tokens: prompt,
      completion_tokens: output + thinking,
      total_tokens: prompt + output + thinking,
      prompt_tokens_details: {
        cached_tokens: read,
        ...(written > 0 && { cache_write_tokens: written }),
      },
      ...(thinking > 0 && { completion_tokens_details: { reasoning_tokens: thinking } }),
    },
  };
}

const openaiError = (message: string, status = 400): Refusal => ({
  status,
  body: {
    error: { message, type: "invalid_request_error", param: null, code: "invalid_request_error" },
  },
});

const serverError = (message: string): Refusal => ({
  status: 500,
  body: { error: { code: 500, message, type: "server_error" } },
});

const deepseek: Dialect = {
  ...usual,
  thinks: true,
  refuse: (body, messages) =>
    unknownVariant(messages) ??
    (needsThinking(messages) === -1
      ? null
      : openaiError(
          "The `reasoning_content` in the thinking mode must be passed back to the API.",
        )) ??
    (isSchema(body) ? openaiError("This response_format type is unavailable now") : null),
  report: ({ prompt, read, output, thinking }) => ({
    choices: [],
    usage: {
      prompt_tokens: prompt,
      completion_tokens: output + thinking,
      total_tokens: prompt + output + thinking,
      prompt_cache_hit_tokens: read,
      prompt_cache_miss_tokens: prompt - read,
      completion_tokens_details: { reasoning_tokens: thinking },
    },
  }),
};

const moonshot: Dialect = {
  ...usual,
  thinks: true,
  refuse: (_, messages) => {
    const missing = needsThinking(messages);
    if (missing === -1) return unknownVariant(messages);
    return openaiError(
      `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${missing}`,
    );
  },
  // In the choice of the last chunk, with the cached count beside the total.
  report: ({ prompt, read, output, thinking }) => ({
    choices: [
      {
        index: 0,
        delta: {},
        finish_reason: null,
        usage: {
          prompt_tokens: prompt,
          completion_tokens: output + thinking,
          total_tokens: prompt + output + thinking,
          cached_tokens: read,
        },
      },
    ],
  }),
};

const mistralMembers = new Set(
  "model messages max_tokens stream temperature stop tools tool_choice parallel_tool_calls response_format prompt_cache_key".split(
    " ",
  ),
);
const mistralMessage = new Set("role content tool_calls tool_call_id name prefix".split(" "));

const mistral: Dialect = {
  ...usual,
  callId: "D681PevKs",
  refuse: (body, messages) => {
    const extra =
      Object.keys(body).find((name) => !mistralMembers.has(name)) ??
      messages.flatMap((message) => Object.keys(message)).find((name) => !mistralMessage.has(name));
    if (extra !== undefined) return extraForbidden(extra, body[extra]);
    const ids = messages.flatMap(({ tool_calls: calls = [] }) => calls.map(({ id }) => id));
    const odd = ids.find((id) => !/^[a-zA-Z0-9]{9}$/.test(id));
    if (odd !== undefined) {
      const message = `Tool call id was ${odd} but must be a-z, A-Z, 0-9, with a length of 9.`;
      return mistralError(message, "invalid_function_call", "3280");
    }
    const at = messages.findIndex(
      ({ role }, index) =>
        role !== "tool" && role !== "assistant" && messages[index - 1]?.role === "tool",
    );
    if (at === -1) return unknownVariant(messages);
    const message = `Unexpected role '${messages[at]?.role}' after role 'tool'`;
    return mistralError(message, "invalid_request_message_order", "3230");
  },
  report: ({ prompt, read, output }) => ({
    choices: [],
    usage: {
      prompt_tokens: prompt,
      completion_tokens: output,
      total_tokens: prompt + output,
      num_cached_tokens: read,
    },
  }),
};

const xai: Dialect = {
  ...usual,
  thinks: true,
  refuse: (body, messages) =>
    "reasoning_effort" in body
      ? openaiError("Model grok-4.7 does not support parameter reasoningEffort.")
      : unknownVariant(messages),
  // Thinking stands beside the reply, not in it.
  report: ({ prompt, read, output, thinking }) => ({
    choices: [],
    usage: {
      prompt_tokens: prompt,
      completion_tokens: output,
      total_tokens: prompt + output + thinking,
      prompt_tokens_details: { cached_tokens: read },
      completion_tokens_details: { reasoning_tokens: thinking },
    },
  }),
};

const qwen: Dialect = {
  ...usual,
  refuse: (_, messages) => unknownVariant(messages),
  report: ({ prompt, read, written, output }) => ({
    choices: [],
    usage: {
      prompt_tokens: prompt,
      completion_tokens: output,
      total_tokens: prompt + output,
      prompt_tokens_details: {
        cached_tokens: read,
        cache_creation_input_tokens: written,
        cache_creation: { ephemeral_5m_input_tokens: written },
        cache_type: "ephemeral",
      },
    },
  }),
};

const zai: Dialect = {
  ...usual,
  refuse: (body, messages) =>
    isSchema(body)
      ? { status: 400, body: { error: { code: "1210", message: "Invalid API parameter" } } }
      : unknownVariant(messages),
  report: inDetails,
};

const groq: Dialect = {
  ...usual,
  refuse: (_, messages) => unknownVariant(messages),
  report: (counts) => ({ choices: [], x_groq: { id: "req_1", usage: inDetails(counts)["usage"] } }),
};

/** Known to take the plain form; what else they refuse is not known. */
const plain: Dialect = {
  ...usual,
  refuse: (_, messages) => unknownVariant(messages),
  report: inDetails,
};

/** A template of a Qwen model: one system message, at the start, and no developer. */
function refuseByTemplate(messages: readonly SaidMessage[]): string | null {
  if (messages.some(({ role }) => role === "developer")) return "Unexpected message role.";
  const late = messages.findLastIndex(({ role }) => role === "system") > 0;
  return late ? "System message must be at the beginning." : null;
}

const vllm: Dialect = {
  ...usual,
  callId: "chatcmpl-tool-0f1e2d3c4b5a",
  refuse: (body, messages) => {
    if ("max_completion_tokens" in body) return extraInputs("max_completion_tokens");
    const why = refuseByTemplate(messages);
    return why === null
      ? null
      : {
          status: 400,
          body: { object: "error", message: why, type: "BadRequestError", param: null, code: 400 },
        };
  },
  report: inDetails,
};

const llamaCpp: Dialect = {
  ...usual,
  callId: "Xk3mPq9",
  refuse: (_, messages) => {
    const why = refuseByTemplate(messages);
    if (why !== null) return serverError(`Jinja Exception: ${why}`);
    return hasParts(messages)
      ? serverError("[json.exception.type_error.302] type must be string, but is array")
      : null;
  },
  report: ({ prompt, read, output }) => ({
    choices: [],
    usage: { prompt_tokens: prompt, completion_tokens: output, total_tokens: prompt + output },
    timings: { cache_n: read, prompt_n: prompt - read, prompt_ms: 12.5, predicted_n: output },
  }),
};

const ollama: Dialect = {
  ...usual,
  refuse: (_, messages) => {
    const odd = messages.find(({ role }) => !/^(system|user|assistant|tool)$/.test(role));
    if (odd === undefined) return null;
    return openaiError(
      `invalid role: "${odd.role}", role must be one of ["system", "user", "assistant", "tool"]`,
    );
  },
  // It says nothing about its cache.
  report: ({ prompt, output }) => ({
    choices: [],
    usage: { prompt_tokens: prompt, completion_tokens: output, total_tokens: prompt + output },
  }),
};

/** Its own name for the call's price, and the host that answered. */
const openrouter: Dialect = {
  ...usual,
  always: { provider: "Anthropic", model: "anthropic/claude-sonnet-4.6" },
  refuse: (body, messages) => {
    const pinned = '{"order":["Anthropic"],"allow_fallbacks":true}';
    if ("provider" in body && JSON.stringify(body["provider"]) !== pinned) {
      return openaiError("No allowed providers are available for the selected model.", 404);
    }
    const late = messages.findIndex(
      ({ role }, index) => role === "system" && index > 0 && messages[index - 1]?.role !== "system",
    );
    return late === -1
      ? unknownVariant(messages)
      : openaiError("system text among the messages is moved to the start");
  },
  report: (counts) => {
    const { usage } = inDetails(counts) as { readonly usage: Body };
    return {
      choices: [],
      usage: {
        ...usage,
        cost: 0.0123,
        cost_details: { upstream_inference_cost: null },
        is_byok: false,
      },
    };
  },
};

/** A server that nobody described: everything that any of them refuses. */
const unknown: Dialect = {
  ...usual,
  refuse: (body, messages) =>
    vllm.refuse(body, messages) ?? llamaCpp.refuse(body, messages) ?? ollama.refuse(body, messages),
  report: inDetails,
};

export type DialectName =
  | "deepseek"
  | "moonshot"
  | "mistral"
  | "xai"
  | "qwen"
  | "zai"
  | "groq"
  | "minimax"
  | "gemini"
  | "lm-studio"
  | "vllm"
  | "llama.cpp"
  | "ollama"
  | "openrouter"
  | "unknown";

export const dialects: Readonly<Record<DialectName, Dialect>> = {
  deepseek,
  moonshot,
  mistral,
  xai,
  qwen,
  zai,
  groq,
  minimax: plain,
  gemini: plain,
  "lm-studio": plain,
  vllm,
  "llama.cpp": llamaCpp,
  ollama,
  openrouter,
  unknown,
};

function unknownVariant(messages: readonly SaidMessage[]): Refusal | null {
  const at = messages.findIndex(({ role }) => !/^(system|user|assistant|tool)$/.test(role));
  if (at === -1) return null;
  return openaiError(
    `Failed to deserialize the JSON body into the target type: messages[${at}].role: unknown variant \`${messages[at]?.role}\`, expected one of \`system\`, \`user\`, \`assistant\`, \`tool\`, \`latest_reminder\` at line 1 column 85`,
  );
}

/** The first message with tool calls and without thinking; -1 for none. */
function needsThinking(messages: readonly SaidMessage[]): number {
  return messages.findIndex(
    ({ tool_calls: calls, reasoning_content: thinking }) =>
      calls !== undefined && thinking === undefined,
  );
}

function isSchema(body: Body): boolean {
  return JSON.stringify(body["response_format"] ?? null).includes("json_schema");
}

function hasParts(messages: readonly SaidMessage[]): boolean {
  return messages.some(({ content }) => Array.isArray(content));
}

function extraForbidden(name: string, input: unknown): Refusal {
  const detail = [
    { type: "extra_forbidden", loc: ["body", name], msg: "Extra inputs are not permitted", input },
  ];
  return {
    status: 422,
    body: {
      object: "error",
      message: { detail },
      type: "invalid_request_error",
      param: null,
      code: null,
    },
  };
}

function mistralError(message: string, type: string, code: string): Refusal {
  return { status: 400, body: { object: "error", message, type, param: null, code } };
}

function extraInputs(name: string): Refusal {
  const message = `[{'type': 'extra_forbidden', 'loc': ('body', '${name}'), 'msg': 'Extra inputs are not permitted', 'input': 800}]`;
  return {
    status: 400,
    body: { object: "error", message, type: "BadRequestError", param: null, code: 400 },
  };
}
