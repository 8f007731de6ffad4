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

export const formatSamples: readonly (readonly Json[])[] = [codex, pi, ctxTrace, ctxKv, ...logs];
