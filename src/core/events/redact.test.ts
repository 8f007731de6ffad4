import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cpuMsOf } from "../../../harness/measure.ts";
import { freeTextLengthMax, redact } from "./redact.ts";

// Made up for these tests, and split so that secret scanners do not flag this repository.
const jwt = ["eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0In0", "c2lnbmF0dXJl"].join(".");
const aws = ["AKIA", "IOSFODNN7EXAMPLE"].join("");
const google = ["AIza", "SyA1234567890abcdefghijklmnopqrstu"].join("");
const slack = ["xoxb", "123456789012", "abcdefABCDEF"].join("-");

describe("what is taken out", () => {
  test.each<[string, string]>([
    ["Incorrect API key provided: sk-proj-abc123DEF456.", "Incorrect API key provided: [redacted]"],
    ["Incorrect API key provided: 0a1b2c3d4e5f.", "Incorrect API key provided: [redacted]"],
    ["key sk-ant-api03-aaaa-BBBB_cc was revoked", "key [redacted] was revoked"],
    [`got ghp_${"a1".repeat(18)} back`, "got [redacted] back"],
    ["npm_0123456789abcdef in .npmrc", "[redacted] in .npmrc"],
    [`the id ${aws} is unknown`, "the id [redacted] is unknown"],
    [`${google} is not enabled`, "[redacted] is not enabled"],
    [`posted with ${slack}`, "posted with [redacted]"],
    [`jwt ${jwt} expired`, "jwt [redacted] expired"],
    ["ya29.a0AfH6SMBx-long_one was used", "[redacted] was used"],
    ["x kQ9vT2mZ7pLw4RbN8cXs1YhJ6dFgA3uE y", "x [redacted] y"],
  ])("keys: %s", (text, expected) => {
    expect(redact(text)).toBe(expected);
  });

  test.each<[string, string]>([
    ["Authorization: Bearer abc.def-123", "Authorization: [redacted]"],
    ["authorization=Basic dXNlcjpwYXNz\nnext line", "authorization=[redacted]\nnext line"],
    ['Proxy-Authorization: Digest username="a", response="b"', "Proxy-Authorization: [redacted]"],
    ["x-api-key: k1", "x-api-key: [redacted]"],
    ["x-goog-api-key: k1", "x-goog-api-key: [redacted]"],
    ["api-key: k1", "api-key: [redacted]"],
    ['Cookie: a="1; 2"; session=xyz', "Cookie: [redacted]"],
    ["Set-Cookie: sid=s%3Aabc; Path=/; HttpOnly\nX: 1", "Set-Cookie: [redacted]\nX: 1"],
    [
      '{"authorization":"Bearer a\\"b","status":401}',
      '{"authorization":"[redacted]","status":401}',
    ],
    ['{"X-Api-Key" : "abc","n":1}', '{"X-Api-Key" : "[redacted]","n":1}'],
    ['{\\"authorization\\":\\"Bearer abc\\",\\"n\\":1}', '{\\"authorization\\":[redacted]'],
    ["curl -H 'Authorization: Bearer abc' https://x", "curl -H 'Authorization: [redacted]"],
    ["sent bearer abcd1234 to it", "sent bearer [redacted] to it"],
    ["with Basic dXNlcjpwYXNz in it", "with Basic [redacted] in it"],
  ])("headers and schemes: %s", (text, expected) => {
    expect(redact(text)).toBe(expected);
  });

  test.each<[string, string]>([
    ["postgres://app:s3cret@db.local/main", "postgres://[redacted]@db.local/main"],
    ["postgres://app:p@ss/w:rd@db/main", "postgres://[redacted]@db/main"],
    ["mongodb+srv://u:p@cluster0.example.net", "mongodb+srv://[redacted]@cluster0.example.net"],
    ["cannot read postgres://app:s3cr", "cannot read postgres://app:[redacted]"],
    ["redis://:hunter2@localhost:6379", "redis://[redacted]@localhost:6379"],
    ["https://ghtoken@github.com/a/b.git", "https://[redacted]@github.com/a/b.git"],
    [
      "no route to amqp://a:b@q1 and amqp://c:d@q2",
      "no route to amqp://[redacted]@q1 and amqp://[redacted]@q2",
    ],
    ["Server=db;User=app;Password=s3;cret", "Server=db;User=app;Password=[redacted]"],
    ["Driver={x};UID=a;PWD=b", "Driver={x};UID=a;PWD=[redacted]"],
    ["AccountKey=abc/def==;EndpointSuffix=x", "AccountKey=[redacted]"],
    ["https://h/p?api_key=abc&x=1 failed", "https://h/p?api_key=[redacted] failed"],
    [
      "https://b.s3.test/o?X-Amz-Signature=deadbeef",
      "https://b.s3.test/o?X-Amz-Signature=[redacted]",
    ],
  ])("addresses and connection strings: %s", (text, expected) => {
    expect(redact(text)).toBe(expected);
  });

  test.each<[string, string]>([
    ["password=hunter2", "password=[redacted]"],
    ["password: 123456 is wrong", "password: [redacted] is wrong"],
    ['{"password":"a b c","user":"u"}', '{"password":"[redacted]","user":"u"}'],
    ["{'client_secret': 'abc'}", "{'client_secret': '[redacted]'}"],
    ["AWS_SECRET_ACCESS_KEY=wJalr/K7MD+x", "AWS_SECRET_ACCESS_KEY=[redacted]"],
    ["OPENAI_API_KEY = abc", "OPENAI_API_KEY = [redacted]"],
    ["refresh_token=>abc", "refresh_token=>[redacted]"],
    ["accessToken: abc", "accessToken: [redacted]"],
    ["//registry.test/:_authToken=abc", "//registry.test/:_authToken=[redacted]"],
    ["DB_PASS=abc", "DB_PASS=[redacted]"],
    ["mysql --password hunter2 -h db", "mysql --password [redacted] -h db"],
    ["login --access-token 'a b' now", "login --access-token '[redacted]' now"],
    ["passphrase: correct horse battery staple", "passphrase: [redacted]"],
    [
      "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----\nafter",
      "[redacted]\nafter",
    ],
    ["-----BEGIN PRIVATE KEY-----\nMIIE", "[redacted]"],
  ])("named values and keys: %s", (text, expected) => {
    expect(redact(text)).toBe(expected);
  });
});

describe("what stays", () => {
  test.each([
    "prompt is too long: 205000 tokens > 200000 maximum",
    "max_tokens: 4096 is more than 2048",
    "input_tokens=12, output_tokens=7, token_count: 9",
    "Overloaded: try again in 3 seconds (request req_011CSHoEeqs5C35K2UUqR7Fy)",
    "ENOENT: no such file or directory, open '/project/src/index.ts'",
    "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "event 01ARYZ6S410000000000000000 of session 7f8d1c2a-1b2c-4d5e-8f90-123456789abc",
    "the bearer token is missing",
    "use basic authentication",
    "https://example.test/docs/a?page=2#top",
    "connect ECONNREFUSED http://localhost:8080/v1, then (http://[::1]:9000)",
    "listening on http://127.0.0.1:4000.",
    "mail ann@example.test about tokenizer: o200k",
    "12 passed, 3 failed: see api-version-header and key-value-store",
    "",
  ])("%s", (text) => {
    expect(redact(text)).toBe(text);
  });
});

describe("long and hostile text", () => {
  test("is cut, and says how long it was", () => {
    const text = redact("word ".repeat(1000));
    expect(text.length).toBeLessThanOrEqual(freeTextLengthMax);
    expect(text.endsWith("… (of 5000 characters)")).toBe(true);
  });

  test("shows no half of a key where it is cut", () => {
    const key = `sk-${"a1B2".repeat(20)}`;
    for (let before = 4000; before < 4200; before += 1) {
      const secretFirst = `password=${"x".repeat(before)}`;
      expect(redact(`${secretFirst} ${key}`)).not.toContain("sk-");
    }
  });

  test("has no half of a character where it is cut", () => {
    expect(redact("😀".repeat(600)).isWellFormed()).toBe(true);
  });

  test.each([
    "sk-",
    "a://a:",
    "a://:",
    "--pass-",
    "password=",
    "eyJaaaaa.",
    "x-api-",
    "\\",
    '"',
    "-----BEGIN A-----",
  ])("of %j a million times takes no time", (piece) => {
    const long = piece.repeat(1_000_000);
    expect(cpuMsOf(() => redact(long))).toBeLessThan(1000);
  });

  test("never contains a secret, whatever is around it, and redacting twice changes nothing", () => {
    const around = fc.string({ maxLength: 40 });
    const secret = fc
      .array(fc.constantFrom("a", "b", "c", "x", "X", "Y", "0", "1", "2", "3"), {
        minLength: 12,
        maxLength: 40,
      })
      .map((letters) => `Q7z${letters.join("")}`);
    const shape = fc.constantFrom<(value: string) => string>(
      (value) => `Bearer ${value}`,
      (value) => `sk-${value}`,
      (value) => `password=${value}`,
      (value) => `"token": "${value}"`,
      (value) => `x-api-key: ${value}`,
      (value) => `postgres://user:${value}@host`,
    );
    fc.assert(
      fc.property(around, secret, shape, around, (before, value, toText, after) => {
        const text = redact(`${before} ${toText(value)} ${after}`);
        expect(text).not.toContain(value);
        expect(redact(text)).toBe(text);
      }),
    );
  });
});
