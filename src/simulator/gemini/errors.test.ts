import { describe, expect, test } from "vitest";
import type { FaultSpec } from "../parse-faults.ts";
import { createSimulator } from "../simulator.ts";
import { plantedKey } from "../../../harness/planted-key.ts";
import {
  call,
  createKit,
  errorOf,
  flash,
  model,
  readTool,
  response,
  user,
  type Body,
} from "./test-kit.ts";

const old = "gemini-2.5-flash";
const order =
  "Please ensure that function call turn comes immediately after a user turn or after a function response turn.";
const orphan =
  "Please ensure that function response turn comes immediately after a function call turn.";
const count =
  "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";

function notFound(name: string): string {
  return `models/${name} is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.`;
}

function ask(
  path: string,
  headers: Record<string, string> = {},
  faults: readonly FaultSpec[] = [],
): Promise<Response> {
  return createSimulator({ faults }).fetch(`http://localhost${path}`, {
    method: "POST",
    headers,
    body: JSON.stringify({ contents: [user("hello")] }),
  });
}

function askFailing(fault: FaultSpec): Promise<Response> {
  const path = `/v1beta/models/${flash}:generateContent`;
  return ask(path, { "x-goog-api-key": plantedKey }, [fault]);
}

describe("a request is refused", () => {
  test.each<[string, Body, string]>([
    [
      "with an unknown name",
      { contents: [user("hi")], max_tokens: 1 },
      'Invalid JSON payload received. Unknown name "max_tokens": Cannot find field.',
    ],
    [
      "with an unknown name in a part",
      { contents: [{ role: "user", parts: [{ text: "hi", cacheControl: {} }] }] },
      "Invalid JSON payload received. Unknown name \"cacheControl\" at 'contents[0].parts[0]': Cannot find field.",
    ],
    [
      "with a schema's name that Google lacks",
      {
        contents: [user("hi")],
        tools: [
          {
            functionDeclarations: [
              { name: "a", parameters: { type: "OBJECT", properties: { b: { const: 1 } } } },
            ],
          },
        ],
      },
      "Invalid JSON payload received. Unknown name \"const\" at 'tools[0].function_declarations[0].parameters.properties[0].value': Cannot find field.",
    ],
    [
      "with a list where one message belongs",
      { contents: [user("hi")], generationConfig: [] },
      'Invalid JSON payload received. Unknown name "generationConfig": Proto field is not repeating, cannot start list.',
    ],
    [
      "with a value of the wrong kind",
      { contents: [user("hi")], generationConfig: { maxOutputTokens: "many" } },
      "Invalid value at 'generation_config.max_output_tokens' (TYPE_INT32), \"many\"",
    ],
    ["without contents", {}, "* GenerateContentRequest.contents: contents is not specified\n"],
    [
      "without parts",
      { contents: [{ role: "user", parts: [] }] },
      "* GenerateContentRequest.contents[0].parts: contents.parts must not be empty.\n",
    ],
    [
      "with an empty part",
      { contents: [{ role: "user", parts: [{ thought: true }] }] },
      "* GenerateContentRequest.contents[0].parts[0].data: required oneof field 'data' must have one initialized field\n",
    ],
    [
      "with a call of nothing",
      { contents: [user("hi"), { role: "model", parts: [{ functionCall: { args: {} } }] }] },
      "* GenerateContentRequest.contents[1].parts[0].function_call.name: Name cannot be empty.\n",
    ],
    [
      "with a function's name that Google does not take",
      { contents: [user("hi")], tools: [{ functionDeclarations: [{ name: "1st" }] }] },
      "* GenerateContentRequest.tools[0].function_declarations[0].name: Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 128.\n",
    ],
    [
      "with another role",
      { contents: [{ role: "assistant", parts: [{ text: "hi" }] }] },
      "Please use a valid role: user, model.",
    ],
    [
      "that begins with a call",
      {
        contents: [
          { role: "model", parts: [call("read")] },
          { role: "user", parts: [response("read", "x")] },
        ],
      },
      order,
    ],
    [
      "with a response to nothing",
      { contents: [user("hi"), model("yes"), { role: "user", parts: [response("read", "x")] }] },
      orphan,
    ],
    [
      "with fewer responses than calls",
      {
        contents: [
          user("hi"),
          { role: "model", parts: [call("read"), call("read")] },
          { role: "user", parts: [response("read", "x")] },
        ],
      },
      count,
    ],
    [
      "with calls that are not answered",
      { contents: [user("hi"), { role: "model", parts: [call("read")] }, user("And now?")] },
      count,
    ],
    [
      "with more than one candidate",
      { contents: [user("hi")], generationConfig: { candidateCount: 2 } },
      "More than one candidate is not simulated.",
    ],
    [
      "with a level and a budget of thinking",
      {
        contents: [user("hi")],
        generationConfig: { thinkingConfig: { thinkingBudget: 1, thinkingLevel: "LOW" } },
      },
      "Set one of thinking_budget and thinking_level, not both. [simulator wording: the provider's text is not published]",
    ],
  ])("%s", (_name, body, message) => {
    const answered = createKit().generate(body, old);
    expect(errorOf(answered)).toEqual([400, "INVALID_ARGUMENT", message]);
    expect(answered.json.error.code).toBe(400);
  });

  test("with the fields that are wrong as details", () => {
    const { json } = createKit().generate({ contents: [{ parts: [{ text: "hi", x: 1 }] }], y: 1 });
    expect(json.error.details).toEqual([
      {
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        fieldViolations: [
          {
            field: "contents[0].parts[0]",
            description:
              "Invalid JSON payload received. Unknown name \"x\" at 'contents[0].parts[0]': Cannot find field.",
          },
          { description: 'Invalid JSON payload received. Unknown name "y": Cannot find field.' },
        ],
      },
    ]);
  });

  test("as not found if it names a model that is not served", () => {
    for (const name of ["gemini-0", "claude-sonnet-5-5", "gemini-1.5-pro"]) {
      const answered = createKit().generate({ contents: [user("hi")] }, name);
      expect(errorOf(answered)).toEqual([404, "NOT_FOUND", notFound(name)]);
    }
  });

  test("if the prompt is longer than the model takes", () => {
    const answered = createKit().generate({ contents: [user("word ".repeat(900_000))] });
    const [status, , message] = errorOf(answered);
    expect(status).toBe(400);
    expect(message).toMatch(
      /^The input token count \(\d{7}\) exceeds the maximum number of tokens allowed \(1048576\)\.$/,
    );
  });

  test("if its body is no JSON", () => {
    const [status, name] = errorOf(createKit().generate("{"));
    expect([status, name]).toEqual([400, "INVALID_ARGUMENT"]);
  });
});

describe("a request is taken", () => {
  test.each<[string, Body]>([
    ["without roles", { contents: [{ parts: [{ text: "hi" }] }] }],
    ["with one content that is no list", { contents: { parts: { text: "hi" } } }],
    [
      "with a number as text",
      { contents: [user("hi")], generationConfig: { maxOutputTokens: "9" } },
    ],
    ["that ends with the model", { contents: [user("hi"), model("Yes,")] }],
    [
      "with the same speaker twice",
      { contents: [user("hi"), user("there"), model("a"), model("b")] },
    ],
    [
      "with answers in contents of their own",
      {
        contents: [
          user("hi"),
          model("I read both."),
          { role: "model", parts: [call("read"), call("read")] },
          { role: "user", parts: [response("read", "x")] },
          { role: "function", parts: [response("read", "y")] },
        ],
      },
    ],
    [
      "with settings that change nothing here",
      {
        contents: [user("hi")],
        safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
        generationConfig: { temperature: 0.2, topP: 1, topK: 1, seed: 7, stopSequences: ["x"] },
        serviceTier: "flex",
        labels: { a: "b" },
      },
    ],
    [
      "with parts of the provider's own tools",
      {
        contents: [
          user("hi"),
          { role: "model", parts: [{ executableCode: { language: "PYTHON", code: "1" } }] },
          user("go on"),
        ],
        tools: [readTool, { codeExecution: {} }, { urlContext: {} }],
      },
    ],
  ])("%s", (_name, body) => {
    expect(createKit().generate(body, old).status).toBe(200);
  });
});

describe("over HTTP", () => {
  const path = `/v1beta/models/${flash}:generateContent`;
  const vertex = `/v1/projects/p/locations/l/publishers/google/models/${flash}:generateContent`;

  test.each([
    ["the header of Google", path, { "x-goog-api-key": plantedKey }],
    ["the query", `${path}?key=${plantedKey}`, {}],
    ["a bearer token on Vertex", vertex, { authorization: `Bearer ${plantedKey}` }],
  ])("a key comes in %s", async (_name, place, headers) => {
    expect((await ask(place, headers)).status).toBe(200);
  });

  test.each([
    ["the Gemini API", path, 403, "PERMISSION_DENIED"],
    ["Vertex", vertex, 401, "UNAUTHENTICATED"],
  ])("no key is refused on %s", async (_name, place, status, name) => {
    const answered = await ask(place);
    expect(answered.status).toBe(status);
    expect(await answered.json()).toMatchObject({ error: { code: status, status: name } });
  });

  test("an unknown path gets Google's error for Google's clients", async () => {
    const answered = await ask("/v1beta/nothing", { "x-goog-api-key": plantedKey });
    expect(answered.status).toBe(404);
    expect(await answered.json()).toMatchObject({ error: { code: 404, status: "NOT_FOUND" } });
  });

  test("the list of models is Google's for Google's clients only", async () => {
    const simulator = createSimulator();
    const list = async (headers: Record<string, string>): Promise<object> => {
      const answered = await simulator.fetch("http://localhost/v1/models", { headers });
      return Object(await answered.json());
    };
    expect(await list({ "x-goog-api-key": plantedKey })).toHaveProperty("models");
    expect(await list({ authorization: `Bearer ${plantedKey}` })).toHaveProperty("data");
  });
});

describe("a fault is worded like Google's", () => {
  test.each<[FaultSpec, number, string, string]>([
    [{ kind: "server error" }, 500, "INTERNAL", "An internal error has occurred."],
    [{ kind: "overloaded" }, 503, "UNAVAILABLE", "The model is overloaded."],
    [
      { kind: "overflow", tokens: 5, tokensMax: 4 },
      400,
      "INVALID_ARGUMENT",
      "The input token count (5) exceeds the maximum number of tokens allowed (4).",
    ],
  ])("%j", async (spec, status, name, message) => {
    const answered = await askFailing(spec);
    expect(answered.status).toBe(status);
    const { error }: Body = await answered.json();
    expect([error.code, error.status]).toEqual([status, name]);
    expect(error.message).toContain(message);
  });

  test("a rate limit says in its details when to try again, and has no retry-after", async () => {
    const answered = await askFailing({ kind: "rate limited", retryAfterSeconds: 34 });
    expect(answered.status).toBe(429);
    expect(answered.headers.has("retry-after")).toBe(false);
    const { error }: Body = await answered.json();
    expect(error.status).toBe("RESOURCE_EXHAUSTED");
    expect(error.details.at(-1)).toEqual({
      "@type": "type.googleapis.com/google.rpc.RetryInfo",
      retryDelay: "34s",
    });
  });
});
