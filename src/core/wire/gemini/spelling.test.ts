import { describe, expect, test } from "vitest";
import type { Block, Message } from "../../message/message.ts";
import { withoutThinking } from "../../message/without-thinking.ts";
import { gemini } from "./index.ts";
import {
  answerWith,
  asReply,
  bodyOf,
  contentsOf,
  flash,
  older,
  readTool,
  say,
  toolResult,
  toolUse,
} from "./test-kit.ts";

const signedCall = '{"functionCall":{"name":"Read","args":{"path":"a"}},"thoughtSignature":"c2ln"}';
const plainCall = '{"functionCall":{"name":"Bash","args":{},"id":"f2"}}';

function replyWith(...parts: readonly string[]): Message {
  return asReply(gemini.decode(answerWith(parts))).message;
}

function idsIn({ content }: Message): readonly string[] {
  return content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
}

test("tools, then system text, then a content for each message", () => {
  const history = [say("user", "One.", "Two."), say("assistant", "Yes.")];
  const system = ["Be brief.", 'Say "yes".'];
  expect(bodyOf({ tools: [readTool], system, history, current: [say("user", "Hi.")] })).toBe(
    '{"tools":[{"functionDeclarations":[{"name":"Read","description":"Reads a \\"file\\".",' +
      '"parametersJsonSchema":{"properties":{"path":{"type":"string"}},"type":"object"}}]}],' +
      '"systemInstruction":{"parts":[{"text":"Be brief."},{"text":"Say \\"yes\\"."}]},' +
      '"contents":[{"role":"user","parts":[{"text":"One."},{"text":"Two."}]},' +
      '{"role":"model","parts":[{"text":"Yes."}]},' +
      '{"role":"user","parts":[{"text":"Hi."}]}],' +
      '"generationConfig":{"maxOutputTokens":100}}',
  );
});

describe("results of tools", () => {
  test("of one reply stand in one content, in order, each with the name of its call and the id that the provider gave", () => {
    const reply = replyWith(signedCall, plainCall);
    const results = idsIn(reply).map((id, index) => toolResult(id, `result ${index}`));
    const history = [say("user", "Hi."), reply, ...results];
    expect(contentsOf({ history, current: [say("user", "Go on.")] })).toEqual({
      contents:
        '{"role":"user","parts":[{"text":"Hi."}]},' +
        `{"role":"model","parts":[${signedCall},${plainCall}]},` +
        '{"role":"user","parts":[' +
        '{"functionResponse":{"name":"Read","response":{"output":"result 0"}}},' +
        '{"functionResponse":{"id":"f2","name":"Bash","response":{"output":"result 1"}}}]},' +
        '{"role":"user","parts":[{"text":"Go on."}]}',
      leftOut: [],
    });
  });

  test("that come last are closed where they are sent, also before volatile text", () => {
    const history = [say("user", "Hi."), replyWith(plainCall), toolResult("f2", "x")];
    expect(bodyOf({ history, current: [] })).toContain('{"output":"x"}}}]}],"generationConfig"');
    expect(bodyOf({ history, current: [], volatile: "It is noon." })).toContain(
      '{"output":"x"}}}]},{"role":"user","parts":[{"text":"It is noon."}]}],"generationConfig"',
    );
  });

  test("in one message with words of the user are apart from them", () => {
    const result: Block = {
      type: "tool_result",
      toolUseId: "f2",
      content: [{ type: "text", text: "no such file" }],
      isError: true,
    };
    const history = [say("user", "Hi."), replyWith(plainCall), say("user", result, "Try again.")];
    expect(contentsOf({ history }).contents).toContain(
      '{"role":"user","parts":[{"functionResponse":{"id":"f2","name":"Bash","response":{"error":"no such file"}}}]},' +
        '{"role":"user","parts":[{"text":"Try again."}]}',
    );
  });

  test("hold images where the model takes them, and are only text elsewhere", () => {
    const image: Block = {
      type: "image",
      source: { kind: "base64", mediaType: "image/png", data: "AA==" },
    };
    const history = [say("user", "Hi."), replyWith(plainCall), toolResult("f2", "Look:", image)];
    expect(contentsOf({ history }).contents).toContain(
      '"response":{"output":"Look:"},"parts":[{"inlineData":{"mimeType":"image/png","data":"AA=="}}]}',
    );
    const text = contentsOf({ history, model: older });
    expect(text.contents).toContain('"response":{"output":"Look:"}}}');
    expect(text.leftOut).toEqual(["image: the result of a tool cannot hold it here"]);
  });

  test("whose call is not there are left out and reported", () => {
    const history = [say("user", "Hi."), say("assistant", "Yes."), toolResult("gone", "x")];
    const { contents, leftOut } = contentsOf({ history });
    expect(contents).not.toContain("functionResponse");
    expect(leftOut).toEqual(["a tool_result: the message before it has no such tool use"]);
  });
});

function replyBy(signature: string): string {
  return (
    '{"role":"model","parts":[{"text":"Well,"},' +
    `{"functionCall":{"name":"Read","args":{"b":1,"a":2.0},"id":"t1"}${signature}},` +
    '{"functionCall":{"name":"Read","args":{},"id":"t2"}}]}'
  );
}

describe("what another provider's model said", () => {
  test("has calls with our ids, the first with the word that stands for a signature", () => {
    const history = [
      say("user", "Hi."),
      say("assistant", "Well,", toolUse("t1", '{"b":1,"a":2.0}'), toolUse("t2", "{}")),
      toolResult("t1", "x"),
      toolResult("t2", "y"),
    ];
    const skip = ',"thoughtSignature":"skip_thought_signature_validator"';
    expect(contentsOf({ history }).contents).toContain(replyBy(skip));
    expect(contentsOf({ history, model: older }).contents).toContain(replyBy(""));
  });

  test("leaves its thinking out and says so; an input that was cut is empty", () => {
    const history = [
      say("user", "Hi."),
      say(
        "assistant",
        { type: "thinking", text: "Hm.", signature: "s" },
        { type: "redacted_thinking", data: "x" },
        { type: "opaque", json: '{"type":"reasoning","encrypted_content":"x"}' },
        toolUse("t1", '{"cut'),
        "",
      ),
    ];
    const { contents, leftOut } = contentsOf({ history });
    expect(contents).toContain('"parts":[{"functionCall":{"name":"Read","args":{},"id":"t1"}');
    expect(leftOut).toEqual(["text: it holds no text (and 4 before it)"]);
  });

  test("is written without what this model thought once that was removed", () => {
    const reply = withoutThinking(
      replyWith('{"text":"Hm.","thought":true}', '{"text":"A","thoughtSignature":"s"}', signedCall),
    );
    const [id = ""] = idsIn(reply);
    expect(contentsOf({ history: [say("user", "Hi."), reply], model: older }).contents).toContain(
      `{"role":"model","parts":[{"text":"A"},{"functionCall":{"name":"Read","args":{"path":"a"},"id":"${id}"}}]}`,
    );
  });
});

function wordsOf(reply: Message): string {
  return contentsOf({ history: [say("user", "Hi."), reply] }).contents;
}

test("a text that was streamed in pieces, the first one signed, goes back as one part", () => {
  const { stream } = gemini;
  let state = stream.start;
  for (const part of ['{"text":"Hel","thoughtSignature":"s"}', '{"text":"lo."}']) {
    [state] = stream.step(state, { event: undefined, data: answerWith([part]) });
  }
  const { message } = asReply(stream.finish(state));
  expect(wordsOf(message)).toContain(
    '{"role":"model","parts":[{"text":"Hello.","thoughtSignature":"s"}]}',
  );
  expect(wordsOf(withoutThinking(message))).toContain(
    '{"role":"model","parts":[{"text":"Hello."}]}',
  );
});

describe("what a user says", () => {
  test("may hold images, files by their id and documents", () => {
    const blocks: readonly Block[] = [
      { type: "image", source: { kind: "base64", mediaType: "image/png", data: "AA==" } },
      { type: "document", source: { kind: "base64", mediaType: "application/pdf", data: "BB==" } },
      { type: "document", source: { kind: "file", fileId: "https://f/v1beta/files/x" } },
      {
        type: "document",
        title: "Notes",
        source: { kind: "text", mediaType: "text/plain", data: "N." },
      },
      { type: "image", source: { kind: "url", url: "https://example.com/a.png" } },
    ];
    expect(contentsOf({ history: [say("user", ...blocks)] })).toEqual({
      contents:
        '{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"AA=="}},' +
        '{"inlineData":{"mimeType":"application/pdf","data":"BB=="}},' +
        '{"fileData":{"fileUri":"https://f/v1beta/files/x"}},{"text":"Notes\\n\\nN."}]}',
      leftOut: ["image: Gemini reads a file by its bytes or its id there, not by another address"],
    });
  });

  test("without a word is not sent", () => {
    const { contents, leftOut } = contentsOf({ history: [say("user", ""), say("user", "Hi.")] });
    expect(contents).toBe('{"role":"user","parts":[{"text":"Hi."}]}');
    expect(leftOut).toEqual(["text: it holds no text"]);
  });
});

test("system text among the messages is the user's; what was for one turn is left out", () => {
  const cleared = {
    ...say("system", "Now."),
    json: '{"role":"system","content":"Now.","clear_at":"next_user_message"}',
  };
  const { contents, leftOut } = contentsOf({
    history: [say("user", "Hi."), say("assistant", "Yes."), say("system", "New rule."), cleared],
  });
  expect(contents).toContain('{"role":"user","parts":[{"text":"New rule."}]}');
  expect(contents).not.toContain("Now.");
  expect(leftOut).toEqual([
    "a system message: it was for one turn only, and here it would stay in sight",
  ]);
});

test("volatile text stands in a content of its own, or at the end of the system text", () => {
  const setting = { system: ["Rules."], volatile: "It is noon." };
  expect(bodyOf(setting)).toContain(
    '{"role":"user","parts":[{"text":"Hi."}]},{"role":"user","parts":[{"text":"It is noon."}]}]',
  );
  expect(bodyOf({ ...setting, place: "system-tail" })).toContain(
    '"systemInstruction":{"parts":[{"text":"Rules."},{"text":"It is noon."}]}',
  );
  expect(flash.capabilities.midConversationSystem).toBe(false);
});
