import { describe, expect, test } from "vitest";
import type { UpstreamConfig } from "../../core/config/schema/gateway.ts";
import { upstreamsAt } from "./built-in.ts";
import { toUpstreamTable } from "./configured.ts";
import type { UpstreamTable } from "./upstream-table.ts";

function ask(
  path: string,
  headers: Readonly<Record<string, string>> = {},
  table: UpstreamTable = toUpstreamTable(new Map()),
): string | undefined {
  const target = table.choose({ path, headers });
  return target && `${target.upstream} ${target.origin}${target.path}`;
}

function tableOf(configs: Readonly<Record<string, Partial<UpstreamConfig>>>): UpstreamTable {
  const empty = { baseUrl: "", protocol: null, headers: new Map<string, string>() };
  return toUpstreamTable(
    new Map(Object.entries(configs).map(([name, config]) => [name, { ...empty, ...config }])),
  );
}

describe("a name at the beginning of the path decides", () => {
  test.each([
    [
      "/anthropic/v1/messages?beta=true",
      "anthropic https://api.anthropic.com/v1/messages?beta=true",
    ],
    ["/u/anthropic/v1/messages", "anthropic https://api.anthropic.com/v1/messages"],
    ["/openai/v1/responses", "openai https://api.openai.com/v1/responses"],
    ["/openai/responses", "openai https://api.openai.com/v1/responses"],
    ["/openai-chat/v1/chat/completions", "openai https://api.openai.com/v1/chat/completions"],
    ["/OpenAI/v1/files/a%2Fb?x=%zz", "openai https://api.openai.com/v1/files/a%2Fb?x=%zz"],
    ["/openrouter/v1/chat/completions", "openrouter https://openrouter.ai/api/v1/chat/completions"],
    [
      "/openrouter/api/v1/chat/completions",
      "openrouter https://openrouter.ai/api/v1/chat/completions",
    ],
    ["/openrouter/v1/messages", "openrouter https://openrouter.ai/api/v1/messages"],
    ["/deepseek/chat/completions", "deepseek https://api.deepseek.com/v1/chat/completions"],
    ["/deepseek/v1/messages", "deepseek https://api.deepseek.com/anthropic/v1/messages"],
    ["/zai/chat/completions", "zai https://api.z.ai/api/paas/v4/chat/completions"],
    ["/anthropic", "anthropic https://api.anthropic.com/"],
    ["/anthropic?x=1", "anthropic https://api.anthropic.com/?x=1"],
    ["/anthropic//evil.example/v1", "anthropic https://api.anthropic.com//evil.example/v1"],
  ])("%s", (path, expected) => {
    expect(ask(path)).toBe(expected);
  });
});

describe("without one, the shape of the request does", () => {
  test.each<[string, Record<string, string>, string]>([
    ["/v1/messages", {}, "anthropic https://api.anthropic.com/v1/messages"],
    [
      "/v1/messages/count_tokens?beta=true",
      {},
      "anthropic https://api.anthropic.com/v1/messages/count_tokens?beta=true",
    ],
    ["/v1/messages/batches", {}, "anthropic https://api.anthropic.com/v1/messages/batches"],
    ["/v1/responses", {}, "openai https://api.openai.com/v1/responses"],
    ["/v1/chat/completions", {}, "openai https://api.openai.com/v1/chat/completions"],
    [
      "/v1/models",
      { "anthropic-version": "2023-06-01" },
      "anthropic https://api.anthropic.com/v1/models",
    ],
    [
      "/v1/models?limit=1000",
      { "x-api-key": "x" },
      "anthropic https://api.anthropic.com/v1/models?limit=1000",
    ],
    ["/v1/models", { authorization: "Bearer x" }, "openai https://api.openai.com/v1/models"],
    ["/v1/files", { authorization: "Bearer x" }, "openai https://api.openai.com/v1/files"],
  ])("%s %o", (path, headers, expected) => {
    expect(ask(path, headers)).toBe(expected);
  });
});

test.each(["/", "/v1/models", "/antropic/v1/messages", "/api/hello", "/strata/v1/messages", "*"])(
  "nothing says where %s goes, and no key is sent anywhere for it",
  (path) => {
    expect(ask(path)).toBeUndefined();
  },
);

describe("a configured upstream", () => {
  test("has a name of its own, or takes a vendor's place for all of its requests", () => {
    const table = tableOf({
      house: { baseUrl: "https://llm.example.com/proxy/v1" },
      openai: { baseUrl: "http://10.0.0.1:4000/v1", headers: new Map([["x-team", "a"]]) },
    });
    expect(ask("/house/v1/chat/completions", {}, table)).toBe(
      "house https://llm.example.com/proxy/v1/chat/completions",
    );
    expect(ask("/v1/responses", {}, table)).toBe("openai http://10.0.0.1:4000/v1/responses");
    expect(ask("/v1/chat/completions", {}, table)).toBe(
      "openai http://10.0.0.1:4000/v1/chat/completions",
    );
    expect(ask("/openai-chat/x", {}, table)).toBe("openai http://10.0.0.1:4000/v1/x");
    expect(table.choose({ path: "/v1/responses", headers: {} })?.headers).toEqual(["x-team", "a"]);
  });

  test("may say which protocol it speaks, which is then told to the observer", () => {
    const table = tableOf({
      house: { baseUrl: "https://llm.example.com", protocol: "anthropic" },
    });
    const target = table.choose({ path: "/house/ask", headers: {} });
    expect(target?.spoken?.name).toBe("anthropic-messages");
    // The vendor's own address stays the usual one.
    expect(ask("/v1/messages", {}, table)).toBe("anthropic https://api.anthropic.com/v1/messages");
  });
});

test("before the simulator, every vendor is at its address", () => {
  const table = toUpstreamTable(new Map(), upstreamsAt("http://127.0.0.1:1"));
  expect(ask("/v1/messages", {}, table)).toBe("anthropic http://127.0.0.1:1/v1/messages");
  expect(ask("/openai/responses", {}, table)).toBe("openai http://127.0.0.1:1/v1/responses");
  expect(ask("/openrouter/v1/chat/completions", {}, table)).toBe(
    "openrouter http://127.0.0.1:1/v1/chat/completions",
  );
  expect(ask("/deepseek/v1/messages", {}, table)).toBe("deepseek http://127.0.0.1:1/v1/messages");
});
