import { describe, expect, test } from "vitest";
import { plantedKey, plantedPassword, plantedToken } from "../../../harness/planted-key.ts";
import { anthropicEndpoint } from "../../core/wire/anthropic-messages/access.ts";
import { toEndpoint } from "../../core/wire/access.ts";
import { gemini } from "../../core/wire/gemini/index.ts";
import { openaiEndpoint } from "../../core/wire/openai/access.ts";
import { parseBaseUrl, parseCredentials } from "./endpoints.ts";

test("each provider has its address and its own header for the key", () => {
  expect(anthropicEndpoint({ apiKey: "sk-ant-1" })).toEqual({
    baseUrl: "https://api.anthropic.com",
    credentials: { "x-api-key": "sk-ant-1" },
  });
  expect(openaiEndpoint({ apiKey: " sk-2\n", baseUrl: "http://127.0.0.1:4141/v1" })).toEqual({
    baseUrl: "http://127.0.0.1:4141/v1",
    credentials: { authorization: "Bearer sk-2" },
  });
  expect(toEndpoint(gemini.access, { apiKey: "AI-1" })).toEqual({
    baseUrl: "https://generativelanguage.googleapis.com",
    credentials: { "x-goog-api-key": "AI-1" },
  });
  expect(openaiEndpoint({ apiKey: "sk-3" }).baseUrl).toBe("https://api.openai.com/v1");
  expect(() => anthropicEndpoint({ apiKey: " " })).toThrow("the API key is empty");
});

describe("where a request goes", () => {
  test.each([
    ["https://api.example.com", "/v1/messages"],
    ["https://api.example.com/", "/v1/messages"],
    ["https://api.example.com/v1", "/v1/messages"],
    ["https://api.example.com/v1/", "/v1/messages"],
    ["https://api.example.com/anthropic", "/anthropic/v1/messages"],
    ["https://api.example.com/anthropic/v1", "/anthropic/v1/messages"],
    ["https://api.example.com/v1/anthropic", "/v1/anthropic/v1/messages"],
    ["https://api.example.com?api-version=1", "/v1/messages?api-version=1"],
  ])("%s → %s", (baseUrl, path) => {
    const base = parseBaseUrl(baseUrl);
    expect([base.origin, base.pathTo("/v1/messages")]).toEqual(["https://api.example.com", path]);
  });

  test("a path without a version follows a base URL that has one", () => {
    expect(parseBaseUrl("https://api.example.com/v1/").pathTo("/chat/completions")).toBe(
      "/v1/chat/completions",
    );
  });

  test.each([
    ["", "/v1beta/models/m:generateContent"],
    ["/v1beta", "/v1beta/models/m:generateContent"],
    ["/v1", "/v1/models/m:generateContent"],
    [
      "/v1/account/gateway/google-ai-studio",
      "/v1/account/gateway/google-ai-studio/v1beta/models/m:generateContent",
    ],
    [
      "/v1/projects/p/locations/global/publishers/google",
      "/v1/projects/p/locations/global/publishers/google/models/m:generateContent",
    ],
  ])("%s and the path of the Gemini API → %s", (base, path) => {
    const sent = parseBaseUrl(`https://api.example.com${base}`);
    expect(sent.pathTo("/v1beta/models/m:generateContent")).toBe(path);
  });

  test.each([
    [
      "/v1/projects/p/locations/global",
      "/v1/projects/p/locations/global/publishers/google/models/m:x",
    ],
    [
      "/v1/projects/p/locations/global/publishers/google/",
      "/v1/projects/p/locations/global/publishers/google/models/m:x",
    ],
    ["/v1", "/v1/publishers/google/models/m:x"],
  ])("%s and the path of Vertex → %s", (base, path) => {
    const sent = parseBaseUrl(`https://api.example.com${base}`);
    expect(sent.pathTo("/publishers/google/models/m:x")).toBe(path);
  });

  test("queries of the base URL and of the path are joined", () => {
    const base = parseBaseUrl("https://api.example.com?api-version=1");
    expect(base.pathTo("/v1/models/m:stream?alt=sse")).toBe(
      "/v1/models/m:stream?alt=sse&api-version=1",
    );
  });

  test.each(["api.example.com", "ftp://example.com", "", "https://me:secret@example.com"])(
    "%s is refused, and not repeated",
    (baseUrl) => {
      expect(() => parseBaseUrl(baseUrl)).toThrow(
        /^the provider's base URL (is no address of http or https|holds a name or a password)$/,
      );
    },
  );
});

test("a key that no header can hold is refused without being shown", () => {
  expect(parseCredentials({ "X-Api-Key": "sk-1" })).toEqual({ "x-api-key": "sk-1" });
  expect(() => parseCredentials({ "x-api-key": "sk-secret\nsk-other" })).toThrow(
    /^the credentials' header "x-api-key" cannot be sent: its name or value holds a character that headers cannot$/,
  );
  expect(() => parseCredentials({ "x-api-key": "“sk-secret”" })).toThrow("cannot be sent");
});

test("a key in the place of a header's name is not shown either", () => {
  for (const name of [plantedKey, plantedToken, `x-${plantedKey}`]) {
    expect(() => parseCredentials({ [name]: "line\nbreak" })).toThrow(
      /^the credentials' header "(x-)?\[redacted\]" cannot be sent/,
    );
  }
  const both = {
    "x-api-key": `${plantedPassword}\n`,
    [`x-${encodeURIComponent(plantedPassword)}`]: "",
  };
  expect(() => parseCredentials(both)).toThrow('header "x-api-key" cannot be sent');
});
