// Goal: keys, versions and betas as the provider reads them (providers.md §1.14).
import { describe, expect, test } from "vitest";
import { createClient, text, type Any } from "./test-kit.ts";
import type { HttpFault } from "../surface.ts";

const base = {
  model: "claude-sonnet-4-6",
  max_tokens: 100,
  messages: [{ role: "user", content: "hi" }],
};

function authenticated(headers: Readonly<Record<string, string>>): Any {
  const request = {
    method: "POST",
    path: "/v1/messages",
    params: {},
    query: new URLSearchParams(),
    headers: new Map(Object.entries(headers)),
    bodyText: "",
  };
  return createClient().surface.authenticate(request, {
    newId: (prefix) => `${prefix}1`,
    nowMs: 0,
  });
}

test("both headers carry a key", () => {
  expect(authenticated({ "x-api-key": "a" })).toEqual({ key: "a" });
  expect(authenticated({ authorization: "Bearer b" })).toEqual({ key: "b" });
});

test("no key is refused", () => {
  const { refusal } = authenticated({});
  expect(refusal.status).toBe(401);
  expect(JSON.parse(refusal.body)).toEqual({
    type: "error",
    error: { type: "authentication_error", message: "x-api-key header is required" },
    request_id: "req_1",
  });
  expect(authenticated({ authorization: "Basic x" }).refusal.status).toBe(401);
});

describe("the headers of a failure", () => {
  const place = {
    newId: (prefix: string) => `${prefix}1`,
    path: "/v1/messages",
    workspace: "workspace",
    nowMs: Date.UTC(2026, 10, 15, 12),
  };
  const usual = createClient().create(base).headers;

  function failed(fault: HttpFault): Readonly<Record<string, string>> {
    return createClient().surface.fault(fault, place).headers;
  }

  test.each<HttpFault>([
    { kind: "server error" },
    { kind: "overloaded" },
    { kind: "overflow", tokens: 2, tokensMax: 1 },
  ])("are those of every answer: $kind", (fault) => {
    expect(failed(fault)).toEqual({ ...usual, "request-id": "req_1" });
  });

  test("at the rate limit nothing remains until it resets", () => {
    const headers = failed({ kind: "rate limited", retryAfterSeconds: 7 });
    expect(Object.keys(headers).toSorted()).toEqual(
      [...Object.keys(usual), "retry-after"].toSorted(),
    );
    expect(headers).toMatchObject({
      "retry-after": "7",
      "anthropic-workspace-id": usual["anthropic-workspace-id"],
      "anthropic-ratelimit-requests-limit": "4000",
      "anthropic-ratelimit-requests-remaining": "0",
      "anthropic-ratelimit-requests-reset": "2026-11-15T12:00:07Z",
      "anthropic-ratelimit-output-tokens-remaining": "0",
    });
  });

  test("without a key there is an organization, and no workspace", () => {
    const { headers } = authenticated({}).refusal;
    expect(headers).toMatchObject({
      "anthropic-organization-id": usual["anthropic-organization-id"],
      "anthropic-ratelimit-requests-limit": "4000",
    });
    expect(headers).not.toHaveProperty("anthropic-workspace-id");
  });
});

describe("version", () => {
  test("a missing or unknown version is refused", () => {
    expect(answered(null)).toBe("anthropic-version: header is required");
    expect(answered("2024-10-22")).toBe('anthropic-version: "2024-10-22" is not a valid version');
  });

  test("both known versions answer", () => {
    expect(answered("2023-06-01")).toBe(200);
    expect(answered("2026-10-21")).toBe(200);
  });

  test("sampling is refused by the new version, even at its default", () => {
    for (const name of ["temperature", "top_p", "top_k"]) {
      expect(answered("2023-06-01", { [name]: 1 })).toBe(200);
      expect(answered("2026-10-21", { [name]: 1 })).toBe(`${name}: Extra inputs are not permitted`);
    }
  });

  test("the new version takes no documents from the assistant and no citations from the user", () => {
    const source = { type: "text", media_type: "text/plain", data: "facts" };
    const document = {
      messages: [
        ...base.messages,
        { role: "assistant", content: [{ type: "document", source }] },
        ...base.messages,
      ],
    };
    const citation = { type: "char_location", cited_text: "a" };
    expect(answered("2023-06-01", document)).toBe(200);
    expect(answered("2026-10-21", document)).toContain("messages.1.content.0: document blocks");
    expect(answered("2023-06-01", cited([citation]))).toBe(200);
    expect(answered("2026-10-21", cited([citation]))).toContain(
      "messages.0.content.0.text.citations",
    );
    expect(answered("2026-10-21", cited([]))).toBe(200);
  });

  test("counting follows the same rules", () => {
    const client = createClient();
    client.version = "2026-10-21";
    const { max_tokens: _unused, ...counted } = base;
    expect(client.count(counted).body.input_tokens).toBeGreaterThan(0);
    expect(client.count({ ...counted, temperature: 1 }).status).toBe(400);
    client.version = null;
    expect(client.count(counted).status).toBe(400);
  });
});

test("a client of betas is shown the iterations of its usage", () => {
  const client = createClient();
  expect(client.create(base).body.usage).not.toHaveProperty("iterations");
  client.betas = ["claude-code-20250219", "interleaved-thinking-2025-05-14"];
  const { usage } = client.create(base).body;
  expect(usage.iterations).toEqual([
    {
      type: "message",
      input_tokens: usage.input_tokens,
      output_tokens: usage.output_tokens,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
      cache_creation: usage.cache_creation,
    },
  ]);
});

function answered(version: string | null, extra: object = {}): Any {
  const client = createClient();
  client.version = version;
  const { status, body } = client.create({ ...base, ...extra });
  return status === 200 ? 200 : body.error.message;
}

function cited(citations: readonly unknown[]): object {
  return { messages: [{ role: "user", content: [text("a", { citations })] }] };
}
