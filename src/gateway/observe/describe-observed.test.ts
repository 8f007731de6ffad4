// The lines that people read while their agents work.
import { expect, test } from "vitest";
import { describeObserved } from "./describe-observed.ts";
import {
  marker,
  saidInStream,
  saidWhole,
  startWatching,
  textOf,
  type Exchange,
} from "./test-kit.ts";

const utc = { minutesAhead: () => 0 };
const headers = { "user-agent": "claude-cli/2.1.325 (external, cli)" };

function asking(system: string, messages: readonly object[]): Partial<Exchange> {
  const body = {
    model: "claude-sonnet-4-6",
    max_tokens: 9,
    system: [
      { type: "text", text: "You are an agent." },
      { type: "text", text: system, ...marker },
    ],
    messages,
  };
  return { headers, body };
}

const opening = { role: "user", content: "Fix the build." };
const later = [
  opening,
  { role: "assistant", content: "I look." },
  { role: "user", content: "Go on." },
];

test("a call is one line: when, who, which model, what was read, written and fresh, dollars and seconds", () => {
  const { pass } = startWatching();
  const usage = {
    input_tokens: 3,
    cache_read_input_tokens: 52_100,
    cache_creation_input_tokens: 1200,
    output_tokens: 40,
  };
  const call = pass({
    ...asking(textOf(3000), [opening]),
    ...saidInStream(["x"], usage),
    atMs: 37_927_000,
    tookMs: 12_400,
  });
  expect(call && describeObserved(call, utc)).toBe(
    "10:32:07 claude-code claude-sonnet-4-6  read 52.1k written 1.2k fresh 3  $0.0207  12.4 s",
  );
});

test("a miss has a second line: how much, why, at which byte of which text, and the dollars lost", () => {
  const { pass } = startWatching();
  const rules = textOf(18_000);
  pass({
    ...asking(rules, [opening]),
    ...saidWhole({ input_tokens: 10, cache_creation_input_tokens: 18_400 }, "m1"),
  });
  const changed = `${rules.slice(0, 12_010)}X${rules.slice(12_011)}`;
  const call = pass({
    ...asking(changed, later),
    ...saidWhole({ input_tokens: 30, cache_creation_input_tokens: 18_400 }, "m2"),
    atMs: 20_000,
  });
  const [, second] = (call === undefined ? "" : describeObserved(call, utc)).split("\n");
  expect(second).toBe(
    "missed 18.4k: system text changed at byte 12,010 of `system block 1`, $0.0635 lost",
  );
});

test("a call that failed says why, and one without a price says that it has none", () => {
  const { pass } = startWatching();
  const error = { type: "error", error: { type: "rate_limit_error", message: "slow down" } };
  const refused = pass({
    ...asking("Be brief.", [opening]),
    status: 429,
    answer: JSON.stringify(error),
    tookMs: 300,
  });
  const unlisted = pass({
    body: { model: "my-own-model", messages: [opening] },
    ...saidWhole({ input_tokens: 1_250_000 }),
  });
  expect(refused && describeObserved(refused, utc)).toBe(
    "00:00:00 claude-code claude-sonnet-4-6  failed: rate-limited  0.3 s",
  );
  expect(unlisted && describeObserved(unlisted, utc)).toBe(
    "00:00:00 unknown my-own-model  prompt 1.25M, cache not reported  model not listed, no price  1.0 s",
  );
});

test("names from requests cannot move the cursor or hide what follows", () => {
  const { pass } = startWatching();
  const call = pass({
    body: { model: "m\u001b[2J\u202e", messages: [opening] },
    ...saidWhole({ input_tokens: 1 }),
  });
  expect(call && describeObserved(call, utc)).toContain("m\ufffd[2J\ufffd");
});
