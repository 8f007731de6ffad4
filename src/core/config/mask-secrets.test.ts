import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { read } from "../../edge/config/test-kit.ts";
import { describeProblem } from "./config-problem.ts";
import { isSecretName, maskSecrets, maskText } from "./mask-secrets.ts";

describe("secrets are masked", () => {
  test.each([
    "api_key",
    "apiKey",
    "x-api-key",
    "token",
    "access_token",
    "auth_tokens",
    "password",
    "db_password_2",
    "secret",
    "clientSecret",
    "secret_access_key",
    "Authorization",
    "Proxy-Authorization",
    "cookie",
    "X-Auth",
    "passphrase",
  ])("by the name %s", (name) => {
    expect(maskSecrets({ [name]: "hunter2" })).toEqual({ [name]: "***" });
  });

  test.each([
    "api_key_env",
    "token_counter",
    "password_file",
    "keyboard",
    "author",
    "monkey",
    "path",
    "model",
  ])("but not by the name %s", (name) => {
    expect(isSecretName(name)).toBe(false);
  });

  test("counts of tokens are no secrets, a number as a password is", () => {
    const value = { tail_keep_tokens: 5, tokens: 6, key: 7, password: 1234, isSecret: true };
    expect(maskSecrets(value)).toEqual({ ...value, password: "***" });
  });

  test.each([
    ["postgres://ana:hunter2@db:5432/x", "postgres://ana:***@db:5432/x"],
    ["postgres://ana:hun/ter@2@db/x", "postgres://ana:***@db/x"],
    ["https://hunter2@host/x", "https://***@host/x"],
    ["postgres://ana@db/x?sslpassword=hunter2&a=b", "postgres://***@db/x?sslpassword=***&a=b"],
    ["https://host/x?api_key=hunter2", "https://host/x?api_key=***"],
    ["Bearer hunter2hunter2", "Bearer ***"],
    ["the key sk-ant-api03-abcdefgh is wrong", "the key *** is wrong"],
    ["https://host:8080/path", "https://host:8080/path"],
    ["claude-sonnet-5-5", "claude-sonnet-5-5"],
  ])("in %s", (text, shown) => {
    expect(maskText(text)).toBe(shown);
  });

  test("at any depth, in lists and maps", () => {
    const value = [{ a: { tokens: ["hunter2"] } }, new Map([["x-api-key", "hunter2"]])];
    expect(maskSecrets(value)).toEqual([
      { a: { tokens: ["***"] } },
      new Map([["x-api-key", "***"]]),
    ]);
  });

  test("wherever a planted key stands in a configuration, neither settings nor problems show it", () => {
    const planted = "sk-planted-0123456789abcdef";
    const places = [
      `providers: { a: { kind: anthropic, api_key: ${planted} } }`,
      `providers: { a: { kind: anthropic, api_key: "${planted} and more" } }`,
      `providers: { a: { kind: anthropic, apikey: ${planted} } }`,
      `providers: { a: { kind: ${planted} } }`,
      `providers: { a: { kind: anthropic, headers: { X-Auth: ${planted}, "bad name": ${planted} } } }`,
      `providers: { a: { kind: anthropic, base_url: "https://u:${planted}@h" } }`,
      `ledger: { store: "postgres://u:${planted}@h/d" }`,
      `ledger: { store: "mysql://u:${planted}@h/d" }`,
      `models: { default: ${planted} }`,
      `models: { add: { x: { token: ${planted} } } }`,
      `tools: { permissions: [${planted}], bash: ${planted} }`,
      `agents: { ana: ${planted} }`,
    ];
    for (const yaml of places) {
      const { settings, problems } = read(yaml, { env: { ANTHROPIC_API_KEY: planted } });
      const printed = `${JSON.stringify(settings)}${problems.map(describeProblem).join()}`;
      expect({ yaml, isShown: printed.includes("planted") }).toEqual({ yaml, isShown: false });
    }
  });

  test("whatever the address, its password is gone", () => {
    const password = fc.stringMatching(/^[A-Za-z0-9!$%^&*()_+=-]{6,20}$/);
    fc.assert(
      fc.property(password, (secret) => {
        expect(maskText(`postgres://ana:${secret}@db/x`)).toBe("postgres://ana:***@db/x");
      }),
    );
  });
});
