// A short valid recording of each format that replay reads, besides the transcript in fixtures/.
import { plantedKey } from "../../harness/planted-key.ts";
import type { Json } from "./mutate.ts";
import { sampleProtocols } from "./samples.ts";

const at = (second: number): string => `2026-02-01T10:00:0${second}.000Z`;
const codexLine = (type: string, second: number, payload: Json): Json => ({
  timestamp: at(second),
  type,
  payload,
});
const item = (second: number, payload: Json): Json => codexLine("response_item", second, payload);
const codexUsage = {
  input_tokens: 100,
  cached_input_tokens: 64,
  output_tokens: 30,
  reasoning_output_tokens: 20,
  total_tokens: 130,
};

const codex: readonly Json[] = [
  codexLine("session_meta", 0, { id: "r1", base_instructions: { text: "Rules." } }),
  codexLine("turn_context", 0, { model: "gpt-5.5", effort: "high" }),
  item(1, { type: "message", role: "user", content: [{ type: "input_text", text: "Fix it" }] }),
  item(3, { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "sealed" }),
  item(4, { type: "function_call", name: "shell", arguments: '{"a":1}', call_id: "c1" }),
  codexLine("event_msg", 6, {
    type: "token_count",
    info: { total_token_usage: { total_tokens: 130 }, last_token_usage: codexUsage },
  }),
  item(7, { type: "function_call_output", call_id: "c1", output: "of c1" }),
  codexLine("compacted", 8, { message: "Summary", replacement_history: [] }),
  item(9, {
    type: "message",
    role: "assistant",
    content: [{ type: "output_text", text: "Done." }],
  }),
  codexLine("event_msg", 9, {
    type: "token_count",
    info: { total_token_usage: { total_tokens: 300 }, last_token_usage: codexUsage },
  }),
];

const piEntry = (id: string, parentId: string | null, second: number, message: Json): Json => ({
  type: "message",
  id,
  parentId,
  timestamp: at(second),
  message,
});
const piReply = (content: Json): Json => ({
  role: "assistant",
  api: "anthropic-messages",
  provider: "anthropic",
  model: "claude-opus-4-6",
  content,
  usage: { input: 100, output: 9, cacheRead: 700, cacheWrite: 200 },
  stopReason: "stop",
});

const pi: readonly Json[] = [
  { type: "session", version: 3, id: "p1", timestamp: at(0), cwd: "/project" },
  { type: "thinking_level_change", id: "l1", parentId: null, thinkingLevel: "high" },
  piEntry("u1", "l1", 1, { role: "user", content: "Fix it" }),
  piEntry(
    "a1",
    "u1",
    3,
    piReply([
      { type: "thinking", thinking: "hm", thinkingSignature: "sig" },
      { type: "toolCall", id: "c1", name: "read", arguments: { path: "a" } },
    ]),
  ),
  piEntry("r1", "a1", 4, {
    role: "toolResult",
    toolCallId: "c1",
    toolName: "read",
    content: [{ type: "text", text: "one" }],
    isError: false,
  }),
  {
    type: "compaction",
    id: "k1",
    parentId: "r1",
    timestamp: at(5),
    summary: "Short",
    firstKeptEntryId: "u1",
    tokensBefore: 900,
  },
  piEntry("a2", "k1", 6, piReply([{ type: "text", text: "Done." }])),
];

const says = (role: string, text: string): Json => ({ role, content: [{ type: "text", text }] });

const ctxTrace: readonly Json[] = [
  {
    kind: "session",
    format: "ctx-trace/1",
    id: "s1",
    agent: "claude-code",
    wire: "anthropic-messages",
    prefix_known: true,
    tools_known: true,
  },
  {
    kind: "request",
    t: at(1),
    t_end: at(2),
    model: "claude-opus-4-6",
    keep: 0,
    append: [says("user", "one")],
    tools: [{ name: "Read", description: "Reads a file.", input_schema: { type: "object" } }],
    system: [{ type: "text", text: "Rules." }],
    usage: {
      input_tokens: 3,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 2000,
      output_tokens: 5,
    },
  },
  {
    kind: "request",
    t: at(3),
    t_end: at(4),
    model: "claude-opus-4-6",
    keep: 1,
    append: [says("assistant", "two"), says("user", "three")],
    usage: null,
  },
];

const ctxKv: readonly Json[] = [
  {
    kind: "kvtrace",
    format: "ctx-kv/1",
    id: "trace_1",
    block_size: 64,
    tool_tokens: 130,
    system_tokens: 70,
  },
  {
    kind: "request",
    agent: null,
    t: 1.5,
    api_time: 2.25,
    model: "claude-opus-4-5-20251101",
    in: 330,
    out: 7,
    keep: 0,
    append: [
      [1, 4],
      [9, 1],
    ],
  },
  { kind: "subagent", agent: "agent_001", tool_tokens: 64, system_tokens: 0 },
  {
    kind: "request",
    agent: "agent_001",
    t: 3,
    api_time: 1,
    model: "claude-opus-4-5-20251101",
    in: 128,
    out: 7,
    keep: 0,
    append: [[20, 2]],
  },
  {
    kind: "request",
    agent: null,
    t: 60,
    api_time: 1,
    model: "claude-opus-4-5-20251101",
    in: 400,
    out: 7,
    keep: 4,
    append: [[11, 2]],
  },
];

const logs: readonly (readonly Json[])[] = sampleProtocols.map(({ path, request }) => [
  request,
  {
    timestamp: at(1),
    url: `https://api.example.test${path}`,
    request,
    response: { usage: { input_tokens: 9, output_tokens: 3 } },
  },
  {
    ts: 1_770_000_000,
    request: { url: path, headers: { "x-api-key": plantedKey }, body: request },
    response: { status: 200, body: {} },
  },
]);

const attribute = (key: string, value: string | number): Json => ({
  key,
  value: typeof value === "string" ? { stringValue: value } : { intValue: String(value) },
});

const otel: readonly Json[] = [1, 2].map((second) => ({
  resourceSpans: [
    {
      resource: { attributes: [attribute("service.name", "shop")] },
      scopeSpans: [
        {
          spans: [
            {
              traceId: "t1",
              spanId: `s${second}`,
              parentSpanId: "s0",
              startTimeUnixNano: `177000000${second}000000000`,
              endTimeUnixNano: `177000000${second}500000000`,
              status: { code: 1 },
              attributes: [
                attribute("gen_ai.operation.name", "chat"),
                attribute("gen_ai.provider.name", "anthropic"),
                attribute("gen_ai.request.model", "claude-sonnet-4-6"),
                attribute("gen_ai.conversation.id", "c1"),
                attribute("gen_ai.usage.input_tokens", 900 + second),
                attribute("gen_ai.usage.cache_read.input_tokens", 300),
                attribute("gen_ai.usage.cache_write.input_tokens", 200),
                attribute(
                  "gen_ai.input.messages",
                  JSON.stringify([{ role: "user", parts: [{ type: "text", content: "Fix it" }] }]),
                ),
              ],
            },
          ],
        },
      ],
    },
  ],
}));

const geminiReply = (id: string, second: number, more: Json): Json => ({
  id,
  timestamp: at(second),
  type: "gemini",
  content: [{ text: "Done." }],
  model: "gemini-2.5-pro",
  tokens: { input: 900, output: 9, cached: 400, thoughts: 3, tool: 0, total: 912 },
  toolCalls: [
    {
      id: "c1",
      name: "read",
      args: { path: "a" },
      result: [{ functionResponse: { id: "c1", name: "read", response: { output: "one" } } }],
      timestamp: at(second),
    },
  ],
  more,
});

const geminiCli: readonly Json[] = [
  { sessionId: "g1", projectHash: "0a", startTime: at(0), kind: "main" },
  { id: "u1", timestamp: at(1), type: "user", content: [{ text: "Fix it" }] },
  geminiReply("a1", 2, null),
  { $set: { messages: [{ id: "u0", timestamp: at(3), type: "user", content: "So far" }] } },
  geminiReply("a2", 4, null),
  { $rewindTo: "a2" },
  geminiReply("a3", 5, null),
];

const opencodeReply = (id: string, created: number, parts: readonly Json[]): Json => ({
  info: {
    id,
    role: "assistant",
    time: { created, completed: created + 5 },
    modelID: "claude-sonnet-4-6",
    providerID: "anthropic",
    tokens: { input: 3, output: 9, reasoning: 0, cache: { read: 100, write: 50 } },
  },
  parts,
});

const opencode: readonly Json[] = [
  {
    info: { id: "ses_1" },
    messages: [
      {
        info: { id: "u1", role: "user", time: { created: 1_770_000_000_000 } },
        parts: [
          { type: "text", text: "Fix it" },
          { type: "compaction", auto: true, tail_start_id: "u1" },
        ],
      },
      opencodeReply("a1", 1_770_000_001_000, [
        {
          type: "tool",
          callID: "c1",
          tool: "read",
          state: { status: "completed", input: { path: "a" }, output: "one", time: { end: 9 } },
        },
        { type: "step-finish", tokens: { input: 3, cache: { read: 9, write: 1 } } },
        { type: "reasoning", text: "hm" },
      ]),
      opencodeReply("a2", 1_770_000_009_000, [{ type: "text", text: "Done." }]),
    ],
  },
];

const hermes: readonly Json[] = [
  {
    id: "h1",
    source: "cli",
    model: "claude-sonnet-4-6",
    system_prompt: "Rules.",
    started_at: 1_770_000_000.5,
    input_tokens: 9,
    messages: [
      { role: "user", content: "Fix it", timestamp: 1_770_000_001 },
      {
        role: "assistant",
        content: "",
        tool_calls: '[{"id":"c1","function":{"name":"read","arguments":"{}"}}]',
        timestamp: 1_770_000_002,
      },
      { role: "tool", tool_call_id: "c1", content: "one", timestamp: 1_770_000_003 },
      { role: "assistant", content: "Done.", timestamp: 1_770_000_004 },
    ],
  },
];

const langChain: readonly Json[] = [
  {
    id: "r1",
    trace_id: "t1",
    run_type: "llm",
    start_time: "2026-02-01T10:00:00.000000",
    end_time: at(2),
    extra: {
      invocation_params: { model: "claude-sonnet-4-6", tools: [{ name: "read" }] },
      metadata: { ls_provider: "anthropic", thread_id: "c1" },
    },
    inputs: { messages: [[{ type: "human", data: { content: "Fix it" } }]] },
    outputs: {
      generations: [
        [
          {
            message: {
              kwargs: {
                usage_metadata: { input_tokens: 900, input_token_details: { cache_read: 400 } },
              },
            },
          },
        ],
      ],
    },
    child_runs: [],
  },
];

const aiSdk: readonly Json[] = [
  {
    runs: [],
    steps: [
      {
        id: "s1",
        run_id: "r1",
        model_id: "claude-sonnet-4-6",
        provider: "anthropic.messages",
        started_at: at(1),
        duration_ms: 9,
        input:
          '{"prompt":[{"role":"user","content":[{"type":"text","text":"Fix it"}]}],"tools":[]}',
        usage: '{"inputTokens":{"total":90,"cacheRead":9},"outputTokens":{"total":3}}',
        error: null,
      },
    ],
  },
];

export const formatSamples: readonly (readonly Json[])[] = [
  codex,
  pi,
  ctxTrace,
  ctxKv,
  otel,
  geminiCli,
  opencode,
  hermes,
  langChain,
  aiSdk,
  ...logs,
];
