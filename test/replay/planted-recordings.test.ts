// Goal: what the bill of a recorded session shows is named, and the provider is blamed only where nothing else can be true.
// Method: a session is billed by the simulator, with an eviction or with a change that the recording does not show.
import { describe, expect, test } from "vitest";
import {
  findCleanCalls,
  pickHiddenChange,
  plantAt,
  type Plant,
  type RecordedTalk,
} from "../../harness/planted/planted-recordings.ts";
import { createRandom } from "../../harness/random-message.ts";
import type { RecordedBlock, RecordedRequest } from "../../src/replay/recording.ts";

const wires = [
  ["anthropic-messages", "claude-sonnet-4-6"],
  ["openai-responses", "gpt-5.5"],
] as const;

describe.each(wires)("a session over %s", (wire, model) => {
  const inPart = talkOver(wire, model, false);
  const whole = talkOver(wire, model, true);

  test("reads all it can without a plant", async () => {
    const { clean, unknown } = await findCleanCalls(inPart);
    expect({ clean, unknown }).toEqual({ clean: [1, 2, 3, 4, 5, 6, 7], unknown: 0 });
  });

  test("of which the provider lost everything says so", async () => {
    for (const talk of [inPart, whole]) {
      expect(await causesOf(talk, () => ({ kind: "eviction" }))).toEqual(["provider lost it"]);
    }
  });

  test("recorded whole, of which the provider lost the tail, says so", async () => {
    expect(await causesOf(whole, () => ({ kind: "eviction of the tail" }))).toEqual([
      "provider lost it",
    ]);
  });

  test("whose client changed the tail unseen never blames the provider", async () => {
    const random = createRandom(7);
    const causes = await causesOf(inPart, (at) => pickHiddenChange(inPart, at, random));
    expect(causes).toContain("changed after the head");
    expect(causes).not.toContain("provider lost it");
    expect(causes).not.toContain("no miss");
  });
});

async function causesOf(
  talk: RecordedTalk,
  plantFor: (at: number) => Plant | null,
): Promise<string[]> {
  const causes = new Set<string>();
  for (let at = 1; at < talk.requests.length; at += 1) {
    const plant = plantFor(at);
    const call = plant === null ? null : await plantAt(talk, at, plant);
    if (call !== null) causes.add(call.explained.explanation.cause);
  }
  return [...causes];
}

/** Tools, a system prompt and a question; then a tool call with its result every 20 seconds. */
function talkOver(wire: string, model: string, isWhole: boolean): RecordedTalk {
  const requests = Array.from({ length: 8 }, (_, index): RecordedRequest => ({
    thread: "",
    startMs: index * 20_000,
    endMs: index * 20_000 + 5000,
    model,
    keep: index === 0 ? 0 : 1 + 2 * index,
    append: index === 0 ? opening : toolCall(index),
    remainderTokens: 0,
    usage: null,
    markers: null,
    settings: {},
  }));
  const facts = { format: "ctx-trace/1", agent: null, blocks: "as sent", workspace: "w" } as const;
  return { session: { id: "s", file: "s.jsonl", wire, isWhole, ...facts }, requests };
}

const opening: readonly RecordedBlock[] = [
  { ...block("tools", 6000), tier: "T0", kind: "tool definition", role: "tools" },
  { ...block("system", 4000), tier: "T1", kind: "system text", role: "system" },
  block("question", 5000),
];

function toolCall(index: number): RecordedBlock[] {
  return [
    { ...block(`use ${index}`, 300), kind: "tool_use", role: "assistant", endsMessage: false },
    { ...block(`result ${index}`, 4000), kind: "tool_result" },
  ];
}

function block(hash: string, tokens: number): RecordedBlock {
  const common = { endsMessage: true, mayCarryMarker: true } as const;
  return { hash, tokens, tier: "T3", kind: "text", role: "user", ...common };
}
