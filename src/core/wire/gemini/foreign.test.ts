import { describe, expect, test } from "vitest";
import { readRequest } from "../foreign/read-request.ts";
import type { ForeignRequest } from "../foreign/foreign-request.ts";
import { gemini } from "./index.ts";
import { bodyOf, flash, readTool, say, toolResult, toolUse } from "./test-kit.ts";

const path = "/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse";
const address = { path, headers: {} };

function read(body: object): ForeignRequest {
  return readRequest(JSON.stringify(body), { address, facts: flash });
}

function hashesOf(body: object): readonly string[] {
  return read(body).blocks.map(({ hash }) => hash);
}

function said(call: object, more: object = {}): object {
  return {
    contents: [
      { role: "user", parts: [{ text: "Hi." }] },
      { role: "model", parts: [{ functionCall: { name: "Read", args: {}, ...call }, ...more }] },
    ],
  };
}

function saysYes(more: object): object {
  return {
    contents: [{ role: "model", parts: [{ text: "Yes.", ...more }] }],
  };
}

function storedAs(cachedContent: string): object {
  return {
    cachedContent,
    contents: [{ role: "user", parts: [{ text: "Hi." }] }],
  };
}

function settingsOf(body: object) {
  return read({ contents: [], ...body }).settings;
}

function isSentTo(sentTo: string): boolean {
  return gemini.foreign.isSentTo({ path: sentTo, headers: {} });
}

describe("a request of another client", () => {
  test("is read in the order in which the provider reads it", () => {
    const { blocks, model, protocol, mode, continues, settings } = read({
      contents: [
        {
          role: "user",
          parts: [{ text: "Hi." }, { inlineData: { mimeType: "image/png", data: "AA" } }],
        },
        {
          role: "model",
          parts: [
            { text: "Hm.", thought: true },
            { functionCall: { name: "Read", args: { path: "a" } }, thoughtSignature: "s" },
          ],
        },
        {
          role: "user",
          parts: [{ functionResponse: { name: "Read", response: { output: "x" } } }],
        },
      ],
      systemInstruction: { role: "user", parts: [{ text: "Be brief." }] },
      tools: [{ functionDeclarations: [{ name: "Read" }, { name: "Bash" }] }, { googleSearch: {} }],
    });
    expect({ model, protocol, mode, continues, settings }).toEqual({
      model: "gemini-3.8-flash",
      protocol: "gemini",
      mode: "implicit",
      continues: false,
      settings: {},
    });
    expect(blocks.map((block) => [block.path, block.section, block.kind, block.tier])).toEqual([
      ["tools.0.functionDeclarations.0", "tool Read", "tool definition", "T0"],
      ["tools.0.functionDeclarations.1", "tool Bash", "tool definition", "T0"],
      ["tools.1", "tool googleSearch", "tool definition", "T0"],
      ["systemInstruction.parts.0", "system instruction", "system text", "T1"],
      ["contents.0.parts.0", "user message 0", "text", "T3"],
      ["contents.0.parts.1", "image in user message 0", "image", "T3"],
      ["contents.1.parts.0", "model message 1", "thinking", "T3"],
      ["contents.1.parts.1", "use of Read in model message 1", "tool_use", "T3"],
      ["contents.2.parts.0", "result of Read in user message 2", "tool_result", "T3"],
    ]);
    expect(blocks.map(({ endsMessage }) => endsMessage)).toEqual(
      [0, 0, 0, 0, 0, 1, 0, 1, 1].map(Boolean),
    );
  });

  test("is the same in both spellings, and with its short forms", () => {
    const long = {
      systemInstruction: { parts: [{ text: "Be brief." }] },
      tools: [{ functionDeclarations: [{ name: "Read", description: "d" }] }],
      contents: [
        { role: "user", parts: [{ text: "Hi." }] },
        {
          role: "model",
          parts: [{ functionCall: { name: "Read", args: {} }, thoughtSignature: "s" }],
        },
      ],
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["Read"] } },
      generationConfig: { thinkingConfig: { thinkingLevel: "LOW" } },
    };
    const short = {
      system_instruction: "Be brief.",
      tools: [{ function_declarations: [{ description: "d", name: "Read" }] }],
      contents: [
        { parts: { text: "Hi." } },
        {
          role: "model",
          parts: [{ function_call: { name: "Read", args: {} }, thought_signature: "s" }],
        },
      ],
      tool_config: { function_calling_config: { mode: "any", allowed_function_names: ["Read"] } },
      generation_config: { thinking_config: { thinking_level: "low" } },
    };
    expect(hashesOf(short)).toEqual(hashesOf(long));
    expect(read(short).settings).toEqual(read(long).settings);
    expect(read(long).settings).toEqual({ "tool choice": "any of Read", effort: "low" });
  });

  test("has another prefix once a signature is dropped, and the same with other ids of its calls", () => {
    const signed = { thoughtSignature: "s" };
    expect(hashesOf(said({ id: "a" }, signed))).toEqual(hashesOf(said({ id: "b" }, signed)));
    expect(hashesOf(said({}, signed))[0]).toBe(hashesOf(said({}))[0]);
    expect(hashesOf(said({}, signed))[1]).not.toBe(hashesOf(said({}))[1]);
    expect(hashesOf(saysYes(signed))).not.toEqual(hashesOf(saysYes({})));
    expect(read(saysYes(signed)).blocks[0]?.tokens).toBe(read(saysYes({})).blocks[0]?.tokens);
  });

  test("shows a prefix that the provider keeps under a name, and that the body does not have it", () => {
    const request = read(storedAs("cachedContents/a"));
    expect(request.continues).toBe(true);
    expect(request.blocks[0]).toMatchObject({
      path: "cachedContent",
      section: "stored prefix cachedContents/a",
      tokens: 0,
      tier: "T0",
    });
    expect(hashesOf(storedAs("cachedContents/a"))[0]).not.toBe(
      hashesOf(storedAs("cachedContents/b"))[0],
    );
  });

  test("names what may change a prefix besides its blocks; a default reads as absent", () => {
    expect(
      settingsOf({
        toolConfig: { functionCallingConfig: { mode: "AUTO" } },
        generationConfig: { responseMimeType: "text/plain", maxOutputTokens: 5, temperature: 1 },
      }),
    ).toEqual({});
    expect(
      settingsOf({
        serviceTier: "FLEX",
        generationConfig: {
          responseMimeType: "application/json",
          responseJsonSchema: { type: "object" },
          thinkingConfig: { thinkingBudget: 512 },
        },
      }),
    ).toEqual({
      "service tier": "flex",
      "output format": 'application/json {"type":"object"}',
      thinking: "a budget of 512",
    });
  });
});

describe("recognised", () => {
  const body = JSON.stringify({ contents: [{ role: "user", parts: [{ text: "Hi." }] }] });
  test.each([
    "/v1beta/models/gemini-3.8-flash:generateContent",
    "/v1/models/gemini-3.8-flash:generateContent?key=x",
    "https://generativelanguage.googleapis.com/v1alpha/models/gemini-3.8-flash:streamGenerateContent?alt=sse",
    "/v1/projects/p/locations/global/publishers/google/models/gemini-3.8-flash:generateContent",
    "/publishers/google/models/gemini%2D3.8-flash:streamGenerateContent",
  ])("by %s, with the model in it", (sentTo) => {
    const seen = readRequest(body, { address: { path: sentTo, headers: {} } });
    expect([seen.protocol, seen.model]).toEqual(["gemini", "gemini-3.8-flash"]);
  });

  test("by its contents without an address, with the model that a log has beside them", () => {
    expect(readRequest(body)).toMatchObject({ protocol: "gemini", model: "" });
    const logged = `{"model":"models/gemini-3.8-flash",${body.slice(1)}`;
    expect(readRequest(logged).model).toBe("gemini-3.8-flash");
  });

  test("never where tokens are counted, or content is embedded", () => {
    const others = [
      "/v1beta/models/m:countTokens",
      "/v1beta/models/m:embedContent",
      "/v1/messages",
    ];
    expect(others.filter((each) => isSentTo(each))).toEqual([]);
  });
});

test("our own request reads as it was written", () => {
  const history = [
    say("user", "Hi."),
    say("assistant", "Well,", toolUse("t1", '{"path":"a"}')),
    toolResult("t1", "x"),
  ];
  const body = bodyOf({
    tools: [readTool],
    system: ["Rules."],
    history,
    current: [say("user", "Go.")],
  });
  const { blocks } = readRequest(body, { address });
  expect(blocks.map(({ kind }) => kind)).toEqual([
    "tool definition",
    "system text",
    "text",
    "text",
    "tool_use",
    "tool_result",
    "text",
  ]);
});
