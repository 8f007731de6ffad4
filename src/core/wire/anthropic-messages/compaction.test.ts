import { describe, expect, test } from "vitest";
import { assert } from "../../assert.ts";
import type { Block, Message } from "../../message/message.ts";
import { bodyText, type EncodedRequest } from "../encoded-request.ts";
import type { CallOptions } from "../protocol.ts";
import type { Reply } from "../reply.ts";
import { createCompaction } from "./compaction.ts";
import { decodeReply } from "./decode.ts";
import { encodeRequest } from "./encode.ts";
import {
  assemblyOf,
  haiku,
  plainOptions,
  planOf,
  say,
  sonnet,
  type MessagesSetting,
} from "./test-kit.ts";

const compaction = createCompaction(encodeRequest);

const summary: Block = { type: "compaction", content: "So far.", signature: "s1" };
const first = say("assistant", summary);

function encode(
  setting: MessagesSetting,
  options: Partial<CallOptions> = {},
  instructions?: string,
): EncodedRequest {
  return compaction.encode({
    assembly: assemblyOf({ model: sonnet, ...setting }),
    plan: planOf(),
    model: sonnet,
    options: { ...plainOptions, ...options },
    ...(instructions === undefined ? {} : { instructions }),
  });
}

function callWith(
  setting: MessagesSetting,
  marked: Parameters<typeof planOf>[0] = {},
): EncodedRequest {
  const model = setting.model ?? sonnet;
  const assembly = assemblyOf({ ...setting, model });
  return encodeRequest({ assembly, plan: planOf(marked), model, options: plainOptions });
}

function replyOf(content: string): Reply {
  const decoded = decodeReply(`{"type":"message","content":${content},"stop_reason":"compaction"}`);
  assert(decoded.kind === "reply", "a reply");
  return decoded;
}

describe("a request for a summary", () => {
  test("is the same request with one member and one header more", () => {
    const { headers, pieces } = encode({ system: ["Be brief."] }, {}, " Keep names. ");
    expect(bodyText(pieces)).toBe(
      '{"model":"claude-sonnet-5-5","max_tokens":100,"system":[{"type":"text","text":"Be brief."}],' +
        '"messages":[{"role":"user","content":[{"type":"text","text":"Hi."}]}],' +
        '"compaction":{"type":"summarize","instructions":"Keep names."}}',
    );
    expect(headers["anthropic-beta"]).toBe("compact-2026-09-04");
  });

  test("keeps the options that a prefix depends on, and leaves out what is refused beside it", () => {
    const options: Partial<CallOptions> = {
      effort: "low",
      toolChoice: "none",
      betas: ["a-beta"],
      extraJson: {
        context_management: '{"edits":[]}',
        stop_sequences: '["x"]',
        output_config: '{"effort":"high","task_budget":{"remaining":7}}',
        metadata: '{"user_id":"u"}',
      },
    };
    const { headers, pieces, notes } = encode({}, options);
    expect(bodyText(pieces)).toBe(
      '{"model":"claude-sonnet-5-5","max_tokens":100,' +
        '"messages":[{"role":"user","content":[{"type":"text","text":"Hi."}]}],' +
        '"output_config":{"effort":"high"},"metadata":{"user_id":"u"},"compaction":{"type":"summarize"}}',
    );
    expect(headers["anthropic-beta"]).toBe("a-beta,compact-2026-09-04");
    expect(notes.map(({ detail }) => detail)).toEqual([
      "context_management: not taken with a summary on demand",
      "stop_sequences: not taken with a summary on demand",
      "output_config.task_budget: not taken with a summary on demand",
    ]);
  });

  test.each<[string, Partial<CallOptions>, boolean]>([
    ["no further option", {}, true],
    ["stop sequences", { stopSequences: ["x"] }, true],
    ["a forced tool", { toolChoice: { name: "read" } }, false],
    ["a tool forced in other words", { extraJson: { tool_choice: '{"type":"any"}' } }, false],
    ["an output schema", { outputSchemaJson: "{}" }, false],
  ])("of a session with %s begins as its calls do: %s", (_what, options, isSame) => {
    const call = { assembly: assemblyOf({}), options: { ...plainOptions, ...options } };
    expect(compaction.keepsPrefix(call)).toBe(isSame);
  });

  test("does not cut a character in two", () => {
    const { pieces } = encode({}, {}, `${"x".repeat(16_383)}😀`);
    expect(bodyText(pieces)).toContain(`"instructions":"${"x".repeat(16_383)}"}`);
  });
});

describe("the reply", () => {
  test("gives the block verbatim, in a message of its own", () => {
    const json =
      '{"type":"compaction", "content":"So far.","encrypted_content":null,"signature":"s1","tool_changes":[]}';
    expect(compaction.messagesIn(replyOf(`[${json}]`))).toEqual([
      say("assistant", { type: "compaction", content: "So far.", signature: "s1", json }),
    ]);
  });

  test.each([
    "[]",
    '[{"type":"text","text":"I will not."}]',
    '[{"type":"compaction","content":null,"signature":"s1"}]',
    '[{"type":"compaction","content":"","signature":"s1"}]',
    '[{"type":"compaction","content":"So far."}]',
    '[{"type":"compaction","content":"So far.","signature":"s1"},{"type":"text","text":"And more."}]',
  ])("with %s holds no summary", (content) => {
    expect(compaction.messagesIn(replyOf(content))).toEqual([]);
  });
});

describe("a signed summary in a later request", () => {
  const history = [first];

  test("stands first, brings its header, and can be marked", () => {
    const { headers, pieces } = callWith({ history }, { 0: "5m" });
    expect(bodyText(pieces)).toContain(
      '"messages":[{"role":"assistant","content":[{"type":"compaction","content":"So far.","signature":"s1","cache_control":{"type":"ephemeral"}}]},{"role":"user"',
    );
    expect(headers["anthropic-beta"]).toBe("compact-2026-09-04");
  });

  test("is one list with a reply that follows it", () => {
    const { pieces } = callWith({ history: [first, say("assistant", "Yes.")] });
    expect(bodyText(pieces)).toContain('"signature":"s1"},{"type":"text","text":"Yes."}]}');
  });

  test("keeps its header beside that of a message that clears", () => {
    const cleared: Message = {
      ...say("system", "10:42"),
      json: '{"role":"system","content":[{"type":"text","text":"10:42"}],"clear_at":"next_user_message"}',
    };
    const { headers } = callWith({ history: [first, say("user", "Go on."), cleared] });
    expect(headers["anthropic-beta"]).toBe(
      "compact-2026-09-04,mid-conversation-system-clear-at-2026-08-21",
    );
  });

  const plain =
    '{"type":"text","text":"Summary of the conversation before this point. It is background, not a request of the user.\\n\\nSo far."}';

  test("becomes a user message for a model that takes none, with a note", () => {
    const { headers, pieces, notes } = callWith({ model: haiku, history });
    expect(bodyText(pieces)).toContain(
      `"messages":[{"role":"user","content":[${plain},{"type":"text","text":"Hi."}]}]`,
    );
    expect(headers["anthropic-beta"]).toBeUndefined();
    expect(notes).toEqual([
      {
        kind: "content-left-out",
        detail: "the seal of a compaction: the model takes none on its route",
      },
    ]);
  });

  test("becomes a user message if it is not the first block, and what follows it stays", () => {
    const later = say("assistant", summary, "Yes.");
    const { pieces, notes } = callWith({ history: [say("user", "Hello."), later] });
    expect(bodyText(pieces)).toContain(
      `{"type":"text","text":"Hello."},${plain}]},{"role":"assistant","content":[{"type":"text","text":"Yes."}]}`,
    );
    expect(notes.map(({ detail }) => detail)).toEqual([
      "the seal of a compaction: it is not the first block",
    ]);
  });
});
