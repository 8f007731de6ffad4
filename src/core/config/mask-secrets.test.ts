import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { read } from "../../edge/config/test-kit.ts";
import { describeProblem } from "./config-problem.ts";
import { isSecretName, maskAddress, maskSecrets, maskText } from "./mask-secrets.ts";

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
    "x-authtoken",
    "x-pass",
    "x-access-key-id",
    "x-private-key-pem",
    "dbpassword",
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
    ["postgres://ana:hunter2@db:5432/x", "postgres://***@db:5432/x"],
    ["postgres://ana:hun/ter@2@db/x", "postgres://***@db/x"],
    ["https://hunter2@host/x", "https://***@host/x"],
    ["postgres://ana@db/x?sslpassword=hunter2&a=b", "postgres://***@db/x?sslpassword=***"],
    ["https://host/x?api_key=hunter2", "https://host/x?api_key=***"],
    ["Bearer hunter2hunter2", "Bearer ***"],
    ["the key sk-ant-api03-abcdefgh is wrong", "the key *** is wrong"],
    ["postgres://ana:hun ter2@db/x", "postgres://***@db/x"],
    ["host=db password='hunter2 xyz' user=ana", "host=db password='***' user=ana"],
    ['{"password": "hunter2 xyz"}', '{"password": "***"}'],
    ["https://host/x?code=hunter2", "https://host/x?code=***"],
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
      `providers: { a: { kind: anthropic, ${planted}: x } }`,
      `providers: { a: { kind: anthropic, 0123456789abcdefplanted: x } }`,
      `providers: { ${planted}: { kid: anthropic } }`,
      `agents: { ${planted}: { model: nobodys } }`,
      `agents: [{ id: ${planted} }, { id: ${planted} }]`,
      `models: { aliases: { a: ${planted}, ${planted}: b } }`,
      `ledger: { store: "postgres://user:pa planted@host/db" }`,
      `ledger: { store: "host=db password='planted xyz'" }`,
      `ledger: { store: "ana:planted@db/x" }`,
      `ledger: { store: "planted%40@db:5432/x" }`,
      `ledger: { store: "//ana:planted@db:5432/x" }`,
      `ledger: { store: "postgres://ana:planted%40b:5432/x" }`,
      `ledger: { store: "postgres://ana/planted@db:5432/x" }`,
      `providers: { a: { kind: anthropic, base_url: "https://ana:planted%40h/v1" } }`,
      `tools: { confirm: ["postgres://ana:planted%2F"] }`,
      `ledger: { store: "postgres://u:${"x".repeat(5000)}planted@h/d" }`,
      `providers: { a: { kind: anthropic, base_url: "https://u:pw planted@h" } }`,
      `providers: { a: { kind: anthropic, base_url: "https://h/x?code=planted&b=planted" } }`,
      `providers: { a: { kind: anthropic, api_key_env: "pw planted" } }`,
      `providers: { a: { kind: anthropic, headers: { x-authtoken: planted, x-pass: planted } } }`,
      `providers: { a: { kind: anthropic, headers: { x-whatever: planted, x-line: "planted\\n" } } }`,
    ];
    for (const yaml of places) {
      const { settings, problems } = read(yaml, { env: { ANTHROPIC_API_KEY: planted } });
      const printed = `${JSON.stringify(settings)}${problems.map(describeProblem).join()}`;
      expect({ yaml, isShown: printed.includes("planted") }).toEqual({ yaml, isShown: false });
    }
  });

  test.each(["postgres://u:pa planted@h/db", "host=db password='planted xyz'", "u:planted@h"])(
    "a refused %s of the environment is not repeated",
    (planted) => {
      for (const env of [{ STRATA_STORE: planted }, { ANTHROPIC_BASE_URL: planted }]) {
        const { config, settings, problems } = read("", { env });
        expect(config).toBeNull();
        const printed = `${JSON.stringify(settings)}${problems.map(describeProblem).join()}`;
        expect(printed).not.toContain("planted");
      }
    },
  );

  test("of headers only harmless ones are shown", () => {
    const yaml =
      "providers: { a: { kind: anthropic, headers: { Anthropic-Beta: some, X-Team: blue } } }";
    const { settings } = read(yaml);
    const shown = settings.filter(({ path }) => path.includes("headers")).map(({ value }) => value);
    expect(shown).toEqual(["some", "***"]);
  });

  test("the user's name in an address is masked with the password", () => {
    const addresses = ["postgres://ana:hunter2@db/x", "postgres://ana@db/x", "http://ana:p@h/y"];
    for (const address of addresses) {
      expect(maskAddress(address)).not.toContain("ana");
      expect(maskText(`cannot connect to ${address}`)).not.toContain("ana");
    }
  });

  test("whatever the address, its password is gone", () => {
    const password = fc.stringMatching(/^[A-Za-z0-9!$%^&*()_+=-]{6,20}$/);
    fc.assert(
      fc.property(password, (secret) => {
        expect(maskText(`postgres://ana:${secret}@db/x`)).toBe("postgres://***@db/x");
      }),
    );
  });
});
