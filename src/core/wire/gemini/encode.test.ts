import { describe, expect, test } from "vitest";
import type { CallOptions } from "../protocol.ts";
import { bodyText } from "../encoded-request.ts";
import { gemini } from "./index.ts";
import {
  answerWith,
  asReply,
  bodyOf,
  callOf,
  flash,
  older,
  planOf,
  readTool,
  say,
  toolResult,
} from "./test-kit.ts";
import { resolveModel } from "../../models/resolve-model.ts";

function settingsOf(options: Partial<CallOptions>, model = flash) {
  const request = gemini.encode(callOf({ tools: [readTool], model }, options));
  const body = bodyText(request.pieces);
  const from = body.indexOf("]}]", body.indexOf('"contents"')) + 3;
  return { settings: body.slice(from), notes: request.notes.map(({ detail }) => detail) };
}

describe("where a call is sent", () => {
  test.each([
    ["gemini-3.8-flash", false, "/v1beta/models/gemini-3.8-flash:generateContent"],
    ["gemini-3.8-flash", true, "/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse"],
    ["tunedModels/mine", false, "/v1beta/tunedModels/mine:generateContent"],
    [
      "publishers/google/models/gemini-3.8-flash",
      true,
      "/publishers/google/models/gemini-3.8-flash:streamGenerateContent?alt=sse",
    ],
  ])("%s, streamed: %s, to %s", (model, stream, path) => {
    expect(gemini.path({ model, stream })).toBe(path);
    expect(gemini.encode(callOf({}, { modelName: model, stream })).path).toBe(path);
  });

  test("the facts of Vertex spell its models by their publisher", () => {
    const model = resolveModel("vertex/gemini-3.8-flash").facts;
    expect(gemini.encode(callOf({ model })).path).toBe(
      "/publishers/google/models/gemini-3.8-flash:generateContent",
    );
  });
});

describe("options", () => {
  test("become settings behind the contents", () => {
    expect(
      settingsOf({
        outputTokensMax: 500,
        temperature: 0.5,
        stopSequences: ["END"],
        effort: "low",
        thinkingJson: '{"includeThoughts":true}',
        outputSchemaJson: '{"type":"object","required":["b","a"]}',
        toolChoice: { name: "Read" },
        extraJson: { safetySettings: "[]", generationConfig: '{"topK":1,"temperature":0.0}' },
      }),
    ).toEqual({
      settings:
        ',"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["Read"]}},' +
        '"generationConfig":{"maxOutputTokens":500,"temperature":0.0,"stopSequences":["END"],' +
        '"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"LOW"},' +
        '"responseMimeType":"application/json",' +
        '"responseJsonSchema":{"type":"object","required":["b","a"]},"topK":1},' +
        '"safetySettings":[]}',
      notes: [],
    });
  });

  test.each([
    ["auto", "AUTO"],
    ["any", "ANY"],
    ["none", "NONE"],
  ] as const)("a tool choice of %s is the mode %s", (toolChoice, mode) => {
    expect(settingsOf({ toolChoice }).settings).toContain(
      `"toolConfig":{"functionCallingConfig":{"mode":"${mode}"}}`,
    );
  });

  test("that the model does not take are named", () => {
    expect(settingsOf({ effort: "max", parallelToolUse: false }).notes).toEqual([
      "one tool at a time: Gemini has no such option",
      'effort "max": Gemini has no such level',
    ]);
    expect(settingsOf({ effort: "high" }, older).notes).toEqual([
      "effort: the model takes a thinkingBudget instead",
    ]);
    expect(settingsOf({ effort: "high", thinkingJson: '{"thinkingBudget":0}' }, older)).toEqual({
      settings:
        ',"generationConfig":{"maxOutputTokens":100,"thinkingConfig":{"thinkingBudget":0}}}',
      notes: [],
    });
    expect(settingsOf({ effort: "low" }, resolveModel("gemini-2.0-flash").facts).notes).toEqual([
      "thinking: the model does not think",
    ]);
    expect(settingsOf({ thinkingJson: "[]", extraJson: { generationConfig: "7" } }).notes).toEqual([
      "thinking: it is not a JSON object",
      "generationConfig: it is not a JSON object",
    ]);
    const bare = gemini.encode(callOf({}, { toolChoice: "any" }));
    expect(bare.notes.map(({ detail }) => detail)).toEqual([
      "tool choice: the request has no tools",
    ]);
  });

  test("cannot replace what the call says", () => {
    const { settings, notes } = settingsOf({
      extraJson: { contents: "[]", cachedContent: '"x"', labels: '{"a":"b"}' },
    });
    expect(settings).toBe(',"generationConfig":{"maxOutputTokens":100},"labels":{"a":"b"}}');
    expect(notes).toEqual([
      "contents: written from the call itself",
      "cachedContent: written from the call itself",
    ]);
  });
});

test("a plan with markers for another model does not break the call", () => {
  const plan = planOf({ 0: "5m" }, { requestMarker: "1h" });
  const request = gemini.encode(callOf({}, {}, { plan }));
  expect(request.notes).toEqual([
    { kind: "markers-stripped", detail: "2 left out: Gemini takes no markers" },
  ]);
  expect(bodyText(request.pieces)).toBe(bodyOf({}));
});

describe("a prefix that the provider keeps under a name", () => {
  const reply = asReply(
    gemini.decode(
      answerWith(['{"functionCall":{"name":"Read","args":{},"id":"f1"},"thoughtSignature":"s"}']),
    ),
  ).message;
  const setting = {
    tools: [readTool],
    system: ["Rules."],
    history: [say("user", "One."), reply, toolResult("f1", "x")],
    current: [say("user", "Two.")],
  };
  const name = "cachedContents/abc";
  const bodyFrom = (blocks: number, more: Partial<CallOptions> = {}) =>
    bodyText(gemini.encode(callOf(setting, more, { storedPrefix: { name, blocks } })).pieces);

  test("stands for tools and system text, and for messages that it holds", () => {
    const end = '],"generationConfig":{"maxOutputTokens":100}}';
    const [one, two] = ["One.", "Two."].map(
      (text) => `{"role":"user","parts":[{"text":"${text}"}]}`,
    );
    const said =
      '{"role":"model","parts":[{"functionCall":{"name":"Read","args":{},"id":"f1"},"thoughtSignature":"s"}]}';
    const result =
      '{"role":"user","parts":[{"functionResponse":{"id":"f1","name":"Read","response":{"output":"x"}}}]}';
    const open = `{"cachedContent":"${name}","contents":[`;
    expect(bodyFrom(2)).toBe(`${open}${one},${said},${result},${two}${end}`);
    expect(bodyFrom(3)).toBe(`${open}${said},${result},${two}${end}`);
    expect(bodyFrom(5)).toBe(`${open}${two}${end}`);
  });

  test("has its own tools and tool choice: the call may not say them again", () => {
    const call = callOf(setting, { toolChoice: "any" }, { storedPrefix: { name, blocks: 2 } });
    const request = gemini.encode(call);
    expect(Object.keys(request.toObject())).toEqual([
      "cachedContent",
      "contents",
      "generationConfig",
    ]);
    expect(request.notes.map(({ detail }) => detail)).toEqual([
      "tool choice: the request has no tools",
    ]);
  });

  test("holds tools and system text at least, ends between messages and is followed by one", () => {
    expect(() => bodyFrom(1)).toThrow("a stored prefix holds tools and system text");
    expect(() => bodyFrom(6)).toThrow("a message follows a stored prefix");
    expect(() => bodyFrom(7)).toThrow("a stored prefix of 7 of 6");
    const split = { system: [], history: [], current: [say("user", "One.", "Two.")] };
    const call = callOf(split, {}, { storedPrefix: { name, blocks: 1 } });
    expect(() => gemini.encode(call)).toThrow("a stored prefix ends between two messages");
  });
});
