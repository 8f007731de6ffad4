// Goal: another model inside the same session: the effect on the cache is printed, the bill and the history stay. Method:
// the command on the simulator over loopback, which bills each model's cache on its own.
import { afterEach, beforeEach, expect, test } from "vitest";
import { plantedToken } from "../../harness/planted-key.ts";
import { eventsIn, openChatKit, resumedBy, type ChatKit } from "./chat-kit.ts";

let kit: ChatKit;

beforeEach(async () => {
  kit = await openChatKit();
});

afterEach(() => kit.close());

const lines = [
  "Look around",
  "/model claude-haiku-5-5",
  "And now?",
  "/model claude-sonnet-5-5",
  "Once more",
  "/model claude-sonnet-5-5",
];

test("/model switches to another model and back, and prints what is cached and what the next call costs", async () => {
  await kit.provide(null);
  const { out, error } = await kit.chat({ lines, words: ["--workspace", kit.folder] });
  expect(out).toMatch(
    /claude-haiku-5-5 answers from now on\. Nothing is cached there yet: the next call sends \S+ tokens uncached, about \$0\.\d+\./,
  );
  expect(out).toMatch(
    /claude-sonnet-5-5 answers again: the next call reads \S+ of \S+ tokens from its cache, about \$0\.\d+\./,
  );
  expect(out).toContain("The cache of claude-haiku-5-5 stays valid");
  expect(out).toContain("claude-sonnet-5-5 already answers.");
  expect(resumedBy({ error })).not.toBe("");
});

test("/model to the same model on another route says that nothing is cached there", async () => {
  const { url } = await kit.provide(null);
  kit.env["AWS_BEARER_TOKEN_BEDROCK"] = plantedToken;
  kit.env["AWS_REGION"] = "us-east-1";
  kit.env["AWS_ENDPOINT_URL_BEDROCK_RUNTIME"] = url;
  const moves = ["Hi", "/model bedrock/claude-sonnet-5-5", "And now?", "/model claude-sonnet-5-5"];
  const { out } = await kit.chat({ lines: moves, words: ["--workspace", kit.folder] });
  expect(out).toMatch(
    /bedrock\/claude-sonnet-5-5 answers from now on\. Nothing is cached there yet: the next call sends \S+ tokens uncached/,
  );
  expect(out).toContain("The cache of bedrock/claude-sonnet-5-5 stays valid");
  expect(out).not.toContain("already answers");
});

test("where no server of one's own listens, the chat says to start it or to have it simulated", async () => {
  const server = await kit.provide(null);
  await server.close();
  kit.env["OLLAMA_BASE_URL"] = server.url;
  const asked = { prompt: "Hi", words: ["--model", "ollama/qwen3:8b", "--workspace", kit.folder] };
  const { out, error } = await kit.chat(asked);
  expect(out + error).toContain(
    "nothing listens at that address: start the server, or have it simulated: providers: { NAME: { kind: simulator } }",
  );
});

test("a server of one's own is reported in seconds of reading, and a cache that it says nothing about is not called empty", async () => {
  const { url } = await kit.provide(null, 150);
  kit.env["OLLAMA_BASE_URL"] = `${url}/vendors/ollama/v1`;
  const asked = { prompt: "Hi", words: ["--model", "ollama/qwen3:8b", "--workspace", kit.folder] };
  const { out, error } = await kit.chat(asked);
  const seconds = /(\d+\.\d) s of reading\./.exec(out + error)?.[1];
  expect(Number(seconds)).toBeGreaterThanOrEqual(0.3);
  expect(out + error).not.toMatch(/\$\d|read from cache/);
});

test("all turns belong to one session and one bill, and the first model reads its cache again", async () => {
  await kit.provide(null);
  const ran = await kit.chat({ lines, words: ["--workspace", kit.folder, "--json"] });
  const events = eventsIn(ran);
  const sessions = events.filter(({ type }) => type === "session");
  expect(sessions.map(({ model }) => model)).toEqual([
    "claude-sonnet-5-5",
    "claude-haiku-5-5",
    "claude-sonnet-5-5",
  ]);
  expect(new Set(sessions.map(({ sessionId }) => sessionId)).size).toBe(1);
  const routes = events.filter(({ type }) => type === "route");
  expect(routes.map(({ model, by }) => `${String(model)} ${String(by)}`)).toEqual([
    "claude-sonnet-5-5 global_default",
    "claude-haiku-5-5 sticky",
    "claude-sonnet-5-5 sticky",
  ]);
  const ends = events.filter(({ type }) => type === "ended");
  expect(ends.at(-1)).toMatchObject({
    totals: { callCount: 9, savedPicoUsd: expect.stringMatching(/^\d+$/) },
  });
  const [first] = (ends.at(-1)?.["calls"] ?? []) as { usage: { cacheReadTokens: number } }[];
  expect(first?.usage.cacheReadTokens).toBeGreaterThan(1000);
});

test("--resume with --model switches the model with a notice", async () => {
  await kit.provide(null);
  const first = await kit.chat({ prompt: "Look around", words: ["--workspace", kit.folder] });
  const words = ["--resume", resumedBy(first), "--model", "claude-haiku-5-5"];
  const { status, error } = await kit.chat({ prompt: "And now?", words });
  expect(status).toBe(0);
  expect(error).toContain("claude-haiku-5-5 answers from now on.");
  expect(resumedBy({ error })).toBe(resumedBy(first));
});

test("a fork goes on with the model that was chosen last, also before it has answered", async () => {
  await kit.provide(null);
  const { out } = await kit.chat({ lines: ["hello", "/model haiku", "/fork", "/model", "go on"] });
  expect(out).toContain("claude-haiku-5-5 of anthropic, 1.0M tokens.");
  expect(out).not.toContain("claude-sonnet-5-5 of anthropic");
  expect(out).toContain("I have looked into this: go on");
});
