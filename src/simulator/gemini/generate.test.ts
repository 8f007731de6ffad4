import { describe, expect, test } from "vitest";
import { calling, createKit, flash, readTool, user, type Body } from "./test-kit.ts";

const thinking = {
  parts: [
    { kind: "thinking", text: "They greet me." },
    { kind: "text", text: "Hello there, and welcome to this place." },
  ],
  stop: "end",
} as const;

function textOf(parts: Body): string {
  return parts.map(({ text }: Body) => text).join("");
}

const usage = {
  promptTokenCount: 9,
  promptTokensDetails: [{ modality: "TEXT", tokenCount: 9 }],
};

describe("generateContent", () => {
  test("answers with one candidate, its usage and its id", () => {
    const kit = createKit();
    const { status, headers, json } = kit.generate({ contents: [user("hello")] });
    expect(status).toBe(200);
    expect(headers["content-type"]).toBe("application/json; charset=UTF-8");
    const { thoughtSignature } = json.candidates[0].content.parts[0];
    expect(json).toEqual({
      candidates: [
        {
          content: { parts: [{ text: "You said: hello", thoughtSignature }], role: "model" },
          finishReason: "STOP",
          index: 0,
        },
      ],
      usageMetadata: { ...usage, candidatesTokenCount: 5, totalTokenCount: 14 },
      modelVersion: flash,
      responseId: "1",
    });
    expect(kit.records).toMatchObject([
      { surface: "gemini", model: flash, outputTokens: 5, reasoningTokens: 0, stopReason: "STOP" },
    ]);
  });

  test("counts thoughts apart from the candidate, and bills both as output", () => {
    const kit = createKit();
    kit.answer = () => thinking;
    const { json } = kit.generate({ contents: [user("hello")] });
    expect(json.usageMetadata).toEqual({
      ...usage,
      candidatesTokenCount: 11,
      thoughtsTokenCount: 5,
      totalTokenCount: 25,
    });
    expect(json.candidates[0].content.parts.map(({ text }: Body) => text)).toEqual([
      "Hello there, and welcome to this place.",
      "",
    ]);
    // 9 tokens at $0.75 and 16 at $3.75 per million.
    expect(kit.records).toMatchObject([
      { outputTokens: 11, reasoningTokens: 5, costUsd: "$0.00006675" },
    ]);
  });

  test("shows thoughts to clients that ask for them", () => {
    const kit = createKit();
    kit.answer = () => thinking;
    const generationConfig = { thinkingConfig: { includeThoughts: true, thinkingLevel: "LOW" } };
    const { json } = kit.generate({ contents: [user("hello")], generationConfig });
    expect(json.candidates[0].content.parts).toMatchObject([
      { text: "They greet me.", thought: true },
      { text: "Hello there, and welcome to this place." },
      { text: "" },
    ]);
  });

  test("does not think with a budget of 0", () => {
    const kit = createKit();
    const generationConfig = { thinkingConfig: { thinkingBudget: 0 } };
    kit.generate({ contents: [user("hello")], generationConfig });
    kit.generate({ contents: [user("hello")] });
    expect(kit.prompts.map(({ thinks }) => thinks)).toEqual([false, true]);
  });

  test("calls functions with an id each, and ends with STOP", () => {
    const kit = createKit();
    kit.answer = () => calling("read", "read");
    const { json } = kit.generate({ contents: [user("hello")], tools: [readTool] });
    const { content, finishReason } = json.candidates[0];
    expect(finishReason).toBe("STOP");
    expect(content.parts.map(({ functionCall }: Body) => functionCall)).toEqual([
      { name: "read", args: { path: "a.ts" }, id: "2" },
      { name: "read", args: { path: "a.ts" }, id: "3" },
    ]);
    expect(kit.prompts[0]?.tools).toEqual([
      {
        name: "read",
        description: "Reads a file",
        inputSchema: { type: "object", properties: { path: { type: "string" } } },
      },
    ]);
  });

  test("keeps the spelling of arguments", () => {
    const kit = createKit();
    const inputJson = '{"2":1.0,"1":1e3}';
    kit.answer = () => ({
      parts: [{ kind: "tool use", name: "read", inputJson }],
      stop: "tool use",
    });
    const { text } = kit.generate({ contents: [user("hello")] });
    expect(text).toContain(`"args":${inputJson}`);
  });

  test("says so when the arguments of a call are no object", () => {
    const kit = createKit();
    kit.answer = () => ({
      parts: [{ kind: "tool use", name: "read", inputJson: "1" }],
      stop: "end",
    });
    const { json } = kit.generate({ contents: [user("hello")] });
    expect(json.candidates).toEqual([
      { content: { role: "model" }, finishReason: "MALFORMED_FUNCTION_CALL", index: 0 },
    ]);
  });

  test("stops at the output limit, thoughts included", () => {
    const kit = createKit();
    kit.answer = () => thinking;
    const generationConfig = { maxOutputTokens: 7 };
    const { json } = kit.generate({ contents: [user("hello")], generationConfig });
    expect(json.candidates[0]).toMatchObject({
      content: { parts: [{ text: "Hello" }, { text: "" }] },
      finishReason: "MAX_TOKENS",
    });
    expect(json.usageMetadata).toMatchObject({ candidatesTokenCount: 2, thoughtsTokenCount: 5 });
  });

  test("tells its model what the client said, did and got", () => {
    const kit = createKit();
    kit.generate(
      {
        system_instruction: "Be brief.",
        contents: [
          user("Read both."),
          {
            role: "model",
            parts: [
              { text: "I do.", thought: true },
              { functionCall: { name: "read", args: { path: "a.ts" } } },
              { functionCall: { id: "c2", name: "read", args: { path: "b.ts" } } },
            ],
          },
          {
            role: "user",
            parts: [
              { functionResponse: { name: "read", response: { output: "one" } } },
              { functionResponse: { id: "c2", name: "read", response: { error: "no such file" } } },
              { text: "Go on." },
            ],
          },
        ],
        toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["read"] } },
        tools: [{ function_declarations: readTool.functionDeclarations }, { googleSearch: {} }],
      },
      "gemini-2.5-flash",
    );
    expect(kit.prompts).toMatchObject([
      {
        model: "gemini-2.5-flash",
        system: "Be brief.",
        toolChoice: { name: "read" },
        tools: [{ name: "read" }],
        turns: [
          { role: "user", text: "Read both." },
          {
            role: "assistant",
            text: "",
            toolUses: [
              { id: "call 1.0", name: "read", inputJson: '{"path":"a.ts"}' },
              { id: "c2", name: "read", inputJson: '{"path":"b.ts"}' },
            ],
          },
          {
            role: "user",
            text: "Go on.",
            toolResults: [
              { id: "call 1.0", text: "one", isError: false },
              { id: "c2", text: "no such file", isError: true },
            ],
          },
        ],
      },
    ]);
  });

  test("counts an image by its size, and shows its tokens apart", () => {
    const data = `iVBORw0KGgoAAAANSUhEUgAAAlgAAAGQ${"A".repeat(40)}`;
    const image = { inlineData: { mimeType: "image/png", data } };
    const contents = [{ role: "user", parts: [image, { text: "What is this?" }] }];
    const { json } = createKit().generate({ contents });
    expect(json.usageMetadata.promptTokensDetails).toEqual([
      { modality: "TEXT", tokenCount: 12 },
      { modality: "IMAGE", tokenCount: 320 },
    ]);
  });

  test.each([
    ["standard", "$0.0000255"],
    ["flex", null],
  ])("has a price in the tier %s: %s", (serviceTier, costUsd) => {
    const kit = createKit();
    kit.generate({ contents: [user("hi")], serviceTier });
    expect(kit.records[0]?.costUsd).toBe(costUsd);
  });

  test("prices a prompt above 200,000 tokens by its tier", () => {
    const kit = createKit();
    const contents = [user("word ".repeat(170_000))];
    const { json } = kit.generate({ contents }, "gemini-2.5-pro");
    expect(json.usageMetadata.promptTokenCount).toBeGreaterThan(200_000);
    const { promptTokenCount: prompt, candidatesTokenCount: said } = json.usageMetadata;
    expect(kit.records[0]?.costUsd).toBe(
      `$${((prompt * 2.5 + said * 15) / 1e6).toFixed(7)}`.replace(/0+$/, ""),
    );
  });
});

describe("streamGenerateContent", () => {
  const path = `/v1beta/models/${flash}:streamGenerateContent`;

  test("sends whole responses as events, with cumulative usage in each", () => {
    const kit = createKit();
    kit.answer = () => thinking;
    const { headers, events, text } = kit.send("POST", `${path}?alt=sse`, {
      contents: [user("hello")],
    });
    expect(headers["content-type"]).toBe("text/event-stream");
    expect(text.endsWith("\r\n\r\n")).toBe(true);
    const candidates = events.map(({ candidates: [first] }) => first);
    expect(candidates.map(({ content }) => content.parts[0].text)).toEqual([
      "Hello there, and welcome",
      " to this place.",
      "",
    ]);
    expect(candidates.map(({ finishReason }) => finishReason)).toEqual([
      undefined,
      undefined,
      "STOP",
    ]);
    expect(events.map(({ usageMetadata }) => usageMetadata.candidatesTokenCount)).toEqual([
      6, 11, 11,
    ]);
    expect(events.map(({ usageMetadata }) => usageMetadata.totalTokenCount)).toEqual([20, 25, 25]);
  });

  test("ends a reply that was thought about with an empty part that carries the signature", () => {
    const kit = createKit();
    kit.answer = () => thinking;
    const { events } = kit.send("POST", `${path}?alt=sse`, { contents: [user("hello")] });
    const parts = events.flatMap(({ candidates }) => candidates[0].content.parts);
    expect(parts.map(({ thoughtSignature }) => typeof thoughtSignature)).toEqual([
      "undefined",
      "undefined",
      "string",
    ]);
  });

  test("sends a signature once, with the first piece of its part", () => {
    const kit = createKit();
    const { events } = kit.send("POST", `${path}?alt=sse`, { contents: [user("x ".repeat(20))] });
    const parts = events.flatMap(({ candidates }) => candidates[0].content.parts);
    expect(parts.map((part) => "thoughtSignature" in part)).toEqual([true, false, false]);
  });

  test("is a JSON list without alt=sse, and so is its error", () => {
    const kit = createKit();
    const { headers, json } = kit.send("POST", path, { contents: [user("hello")] });
    expect(headers["content-type"]).toBe("application/json; charset=UTF-8");
    expect(json).toHaveLength(1);
    expect(json[0].candidates[0].finishReason).toBe("STOP");
    const refused = kit.send("POST", path, {});
    expect(refused.status).toBe(400);
    expect(refused.json).toMatchObject([{ error: { status: "INVALID_ARGUMENT" } }]);
  });

  test("streams what it would answer whole", () => {
    const whole = createKit();
    const streamed = createKit();
    for (const kit of [whole, streamed]) kit.answer = () => thinking;
    const body = {
      contents: [user("hello")],
      generationConfig: { thinkingConfig: { includeThoughts: true } },
    };
    const { json } = whole.generate(body);
    const { events } = streamed.send("POST", `${path}?alt=sse`, body);
    expect(events.at(-1)?.usageMetadata).toEqual(json.usageMetadata);
    const pieces = events.flatMap(({ candidates }) => candidates[0].content.parts);
    expect(textOf(pieces)).toBe(textOf(json.candidates[0].content.parts));
    expect(pieces.at(-1)).toEqual(json.candidates[0].content.parts.at(-1));
  });
});

describe("countTokens", () => {
  test("counts what is then billed", () => {
    const kit = createKit();
    const request = {
      contents: [user("hello")],
      tools: [readTool],
      systemInstruction: "Be brief.",
    };
    const counted = kit.send("POST", `/v1beta/models/${flash}:countTokens`, {
      generateContentRequest: { model: `models/${flash}`, ...request },
    });
    const { usageMetadata } = kit.generate(request).json;
    expect(counted.json.totalTokens).toBe(usageMetadata.promptTokenCount);
  });

  test("takes contents alone", () => {
    const path = `/v1beta/models/${flash}:countTokens`;
    expect(createKit().send("POST", path, { contents: [user("hello")] }).json).toEqual({
      totalTokens: 9,
      promptTokensDetails: [{ modality: "TEXT", tokenCount: 9 }],
    });
  });
});

describe("models", () => {
  test("are listed in pages", () => {
    const kit = createKit();
    const first = kit.send("GET", "/v1beta/models?pageSize=5").json;
    const rest = kit.send("GET", `/v1beta/models?pageToken=${first.nextPageToken}`).json;
    expect(first.models).toHaveLength(5);
    const names = [...first.models, ...rest.models].map(({ name }: Body) => name);
    expect(names).toContain("models/gemini-3.8-flash");
    expect(names).not.toContain("models/gemini-1.5-pro");
    expect(new Set(names).size).toBe(names.length);
    expect(rest.nextPageToken).toBeUndefined();
  });

  test("are described one by one", () => {
    expect(createKit().send("GET", `/v1beta/models/${flash}`).json).toEqual({
      name: "models/gemini-3.8-flash",
      version: "3.8",
      displayName: flash,
      inputTokenLimit: 1_048_576,
      outputTokenLimit: 65_536,
      supportedGenerationMethods: ["generateContent", "countTokens", "createCachedContent"],
      temperature: 1,
      topP: 0.95,
      topK: 64,
      thinking: true,
    });
  });
});

test.each([
  `/v1/models/${flash}`,
  `/v1alpha/models/${flash}`,
  `/v1/projects/p/locations/global/publishers/google/models/${flash}`,
  `/v1beta1/publishers/google/models/${flash}`,
  `/v1beta1/projects/p/locations/europe-west1/publishers/google/models/${flash}`,
])("serves %s", (path) => {
  const kit = createKit();
  const body = { contents: [user("hello")] };
  expect(kit.send("POST", `${path}:generateContent`, body).status).toBe(200);
  expect(kit.send("POST", `${path}:countTokens`, body).json.totalTokens).toBe(9);
});
