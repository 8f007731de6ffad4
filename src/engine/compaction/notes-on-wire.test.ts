// Goal: what stands for a compacted part is taken by every provider. Method: the messages of a compaction and a kept tail,
// written by each protocol, answered by the simulator.
import { afterEach, describe, expect, test } from "vitest";
import { appendMessages, openThread } from "../../core/assembly/thread.ts";
import { itemsOf } from "../../core/growing/growing-list.ts";
import { findPolicy } from "../../core/cache/policies.ts";
import { makeValid } from "../../core/compaction/summary/make-valid.ts";
import {
  toNotesMessages,
  type CompactionShape,
} from "../../core/compaction/summary/notes-messages.ts";
import type { Message } from "../../core/message/message.ts";
import { validateConversation } from "../../core/message/validate-conversation.ts";
import { resolveModel } from "../../core/models/resolve-model.ts";
import { cheapCounter } from "../../core/tokens/cheap-counter.ts";
import { anthropicMessages } from "../../core/wire/anthropic-messages/index.ts";
import { openaiChat } from "../../core/wire/openai/chat/index.ts";
import { openaiResponses } from "../../core/wire/openai/responses/index.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import { closeAll } from "../../edge/providers/test-kit.ts";
import { createAgent, createSimulator, type Model } from "../../simulator/index.ts";
import { openSession } from "../session/open-session.ts";
import type { Session } from "../../core/session/session.ts";
import { askForSummary } from "./summarise-call.ts";
import { summarise } from "./summarise.ts";
import { connect, say, speak } from "../test-kit.ts";

afterEach(closeAll);

interface Wire {
  readonly protocol: Protocol;
  readonly model: string;
}

const wires: Readonly<Record<string, Wire>> = {
  "anthropic-messages": { protocol: anthropicMessages, model: "claude-opus-5" },
  "openai-chat": { protocol: openaiChat, model: "gpt-6.1-sol" },
  "openai-responses": { protocol: openaiResponses, model: "gpt-6.1-sol" },
};

const request = say("user", "Read every file.");
const step: Message = {
  role: "assistant",
  content: [{ type: "tool_use", id: "toolu_1", name: "read", inputJson: '{"path":"a.ts"}' }],
};
const found: Message = {
  role: "tool",
  content: [
    {
      type: "tool_result",
      toolUseId: "toolu_1",
      content: [{ type: "text", text: "text" }],
      isError: false,
    },
  ],
};

function compaction(
  shape: CompactionShape,
  kept: readonly Message[],
  current: boolean,
): readonly Message[] {
  const { notes, requests } = toNotesMessages({
    notes: { kind: "summary", text: "## Task\nRead." },
    wordsText: "",
    indexText: "a.ts",
    skillsFreed: [],
    currentRequest: current ? [request] : null,
    shape,
    canRecall: true,
    keptRole: kept[0]?.role ?? null,
  });
  return [...notes, ...requests, ...kept];
}

const cases: Readonly<Record<string, readonly [boolean, readonly Message[]]>> = {
  "a kept turn": [false, [say("user", "And b.ts?"), say("assistant", "It is empty.")]],
  "a turn that is kept from a call on": [true, [step, found]],
  "nothing kept": [false, []],
  "only the request kept": [true, []],
};

const read = {
  name: "read",
  description: "Reads.",
  inputSchemaJson: '{"type":"object"}',
};

function open({ protocol, model }: Wire, messages: readonly Message[] = []): Session {
  return openSession({
    model: resolveModel(model).facts,
    protocol,
    policy: findPolicy("adaptive"),
    context: { role: "unified", workspaceRules: "Answer briefly. ".repeat(700) },
    counter: cheapCounter,
    tools: [{ definition: read, needs: [] }],
    options: { outputTokensMax: 8_000, stream: false },
    messages,
  });
}

describe.each(Object.entries(wires))("the messages of a fold by %s", (_, wire) => {
  describe.each(["message", "pair"] as const)("as a %s", (shape) => {
    test.each(Object.entries(cases))("are taken before %s", async (_name, [current, kept]) => {
      const messages = compaction(shape, kept, current);
      expect(validateConversation(messages)).toEqual([]);
      const provider = await connect(
        createSimulator({ model: createAgent({ steps: 0 }) }),
        wire.protocol,
      );
      const speaker = { session: open(wire, messages), provider, volatile: null };
      const { call } = await askForSummary(speaker, [say("user", "Go on.")], { now: Date.now });
      expect(call).toMatchObject({ status: "complete", failure: null });
    });
  });
});

test("as a pair they never put two of one role side by side, for models that refuse that (C-6)", () => {
  for (const [current, kept] of Object.values(cases)) {
    const roles = compaction("pair", kept, current).map(({ role }) => role);
    expect(roles.filter((role, index) => role === roles[index + 1])).toEqual([]);
  }
});

test("where a provider wants one message of the user, the notes are a block of it", () => {
  const { protocol } = wires["anthropic-messages"] ?? { protocol: anthropicMessages };
  const { thread } = open(
    { protocol, model: "claude-opus-5" },
    compaction("message", [say("user", "And b.ts?")], false),
  );
  const blocks = [...itemsOf(thread.blocks)];
  expect(blocks.map(({ role }) => role)).toEqual(["user", "user"]);
  expect(thread.written).toMatchObject({ openRole: "user" });
});

test("kept turns of a model that binds its thinking are taken once the thinking is out", async () => {
  const bound = { protocol: anthropicMessages, model: "claude-opus-5-5" };
  const thinking = createAgent({ steps: 0 });
  const model: Model = (prompt) => thinking({ ...prompt, thinks: true });
  const provider = await connect(createSimulator({ model }), anthropicMessages);
  let session = open(bound);
  for (const text of ["One?", "Two?", "Three?"])
    ({ session } = await speak(session, provider, text));
  const kept = [...itemsOf(session.thread.messages)].slice(-2);
  const compacted = (messages: readonly Message[]): Session => ({
    ...session,
    thread: appendMessages(
      openThread(session.thread.foundation),
      compaction("message", messages, false),
    ),
  });
  const refused = await speak(compacted(kept), provider, "Four?");
  expect(refused.entry.failure).toMatchObject({ kind: "thinking-mismatch" });
  const valid = makeValid(kept, session.model);
  expect(valid).toMatchObject({ changed: true, thinkingRemoved: 1 });
  const taken = await speak(compacted(valid.messages), provider, "Four?");
  expect(taken.entry.status).toBe("complete");
});

test("ten folds in a row keep the facts of the first (B-02)", async () => {
  const wire = { protocol: anthropicMessages, model: "claude-opus-5" };
  const simulator = createSimulator({ model: createAgent({ steps: 0 }) });
  const provider = await connect(simulator, anthropicMessages);
  let session = open(wire);
  const told: string[] = [];
  for (let number = 1; number <= 10; number += 1) {
    const words = `Deploy ticket TX-${number}00 to host node-${number}.example before noon.`;
    ({ session } = await speak(session, provider, words));
    const messages = [...itemsOf(session.thread.messages)];
    const history = messages.map((message, index) => ({
      turnId: `${number}`,
      index,
      message,
      tokens: 50,
    }));
    const outcome = await summarise(
      session,
      {
        thread: session.thread,
        pending: [],
        history,
        hasEarlierNotes: number > 1,
        identifiers: [],
        pendingAsks: [words],
        summaryTokensMax: 2_000,
        countText: (text) => Math.ceil(text.length / 4),
      },
      { provider, now: Date.now, sleep: () => Promise.resolve() },
    );
    if (outcome.kind === "failed") throw new Error(outcome.reasons.join("; "));
    told.push(outcome.text);
    const { notes } = toNotesMessages({
      notes: { kind: "summary", text: outcome.text },
      wordsText: "",
      indexText: "",
      skillsFreed: [],
      currentRequest: null,
      shape: "message",
      canRecall: false,
      keptRole: null,
    });
    const thread = appendMessages(openThread(session.thread.foundation), notes);
    session = { ...session, thread, cache: outcome.cache };
  }
  expect(told).toHaveLength(10);
  for (const text of told) expect(text).toContain("TX-100 to host node-1.example");
  expect(told.at(-1)).toContain("TX-1000 to host node-10.example");
});
