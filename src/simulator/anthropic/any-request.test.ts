// Goal: no request crashes the surface. Method: valid requests with random values in random places.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createClient, marked, text, tool, type Any } from "./test-kit.ts";

const request = {
  model: "claude-opus-5-5",
  max_tokens: 50,
  stream: false,
  cache_control: { type: "ephemeral", ttl: "1h" },
  system: [text("Be brief.")],
  tools: [tool("read"), tool("rare", { defer_loading: true })],
  tool_choice: { type: "auto", disable_parallel_tool_use: true },
  thinking: { type: "adaptive", display: "summarized" },
  output_config: { effort: "low", task_budget: { remaining: null } },
  context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
  diagnostics: { previous_message_id: null },
  stop_sequences: ["STOP"],
  metadata: { user_id: "me" },
  messages: [
    {
      role: "user",
      content: [text("hi"), { type: "image", source: { type: "base64", data: "iVBO" } }],
    },
    { role: "system", content: "Note." },
    {
      role: "assistant",
      content: [text("ok"), { type: "tool_use", id: "a", name: "read", input: { path: "x" } }],
    },
    {
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: "a",
          content: [text("done"), { type: "tool_reference", tool_name: "rare" }],
        },
        { type: "document", source: { type: "content", content: [text("page")] } },
      ],
    },
  ],
};

const betas = ["context-management-2025-06-27", "compact-2026-09-04"];

test("the request the others are made of is accepted", () => {
  const client = createClient();
  client.betas = betas;
  expect(client.create(request).status).toBe(200);
});

test("whatever stands in a request, the answer is a reply or a refusal, and counts as it is billed", () => {
  const client = createClient();
  client.betas = betas;
  const oddities = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom<unknown>(
      "",
      [],
      {},
      null,
      marked.cache_control,
      "compaction",
      "thinking",
      -1,
      1e99,
    ),
  );
  fc.assert(
    fc.property(fc.array(fc.nat(), { minLength: 1, maxLength: 6 }), oddities, (steps, oddity) => {
      const body = withOddity(request, steps, oddity);
      const { status } = client.create(body);
      expect([200, 400, 404]).toContain(status);
      const billed = status === 200 ? client.records.at(-1)?.bill.totalTokens : null;
      expect(status === 200 ? client.count(countable(body)).body.input_tokens : null).toBe(billed);
    }),
    { numRuns: 500 },
  );
});

const notCounted = new Set(["stream", "diagnostics", "stop_sequences", "metadata"]);

function countable(body: Any): Any {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !notCounted.has(name)));
}

/** Follows the path and puts the odd value at its end, sometimes under a new name. */
function withOddity(value: unknown, steps: readonly number[], oddity: unknown): unknown {
  const [step, ...rest] = steps;
  if (step === undefined || typeof value !== "object" || value === null) return oddity;
  const copy: Any = Array.isArray(value) ? [...value] : { ...value };
  const keys = [...Object.keys(value), ...(Array.isArray(value) ? [] : ["cache_control", "odd"])];
  const key = keys[step % keys.length];
  if (key === undefined) return oddity;
  copy[key] = withOddity(copy[key], rest, oddity);
  return copy;
}
