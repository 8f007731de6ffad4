// Goal: no key and no password is ever repeated, in any output and after any reply of a provider. Method: the program with
// planted secrets, against a provider that repeats the key it was sent in every spelling; then everything that was said
// and everything on the disk is searched.
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { speakOnPurpose } from "../harness/watch/on-purpose.ts";
import {
  findPlanted,
  plantedKey,
  plantedOpenaiKey,
  plantedPassword,
  plantedToken,
} from "../harness/planted-key.ts";
import { searchFiles } from "../harness/watch/search-files.ts";
import { strata, type Ran } from "../src/cli/test-kit.ts";
import { startStrata } from "./run-strata.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "strata-planted-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const echoes: readonly ((key: string) => string)[] = [
  (key) => `invalid key ${key}`,
  (key) => `GET /?key=${encodeURIComponent(key)} is not allowed`,
  (key) => JSON.stringify({ headers: { "x-api-key": key } }),
  (key) => `user is ${btoa(key)}, that is ${btoa(`user:${key}`)}`,
  (key) => `token ${Buffer.from(`:${key}`).toString("base64url")}`,
  (key) => `bytes ${Buffer.from(key).toString("hex")}`,
  (key) => `key ${key.slice(0, 30)}... or ...${key.slice(-20)}`,
  (key) => key.toUpperCase(),
  // Where a text is cut, a part of a key is left.
  (key) => `${"x".repeat(480)}${key}`,
];

/** Says no in turn as a refusal, as an overload, and in the middle of a stream. */
async function openHostile(): Promise<{ readonly url: string; readonly asked: () => number }> {
  let asked = 0;
  const server = createServer((request, response) => {
    request.resume().once("end", () => {
      speakOnPurpose(response);
      const text = echoes[asked % echoes.length]?.(String(request.headers["x-api-key"])) ?? "";
      const status = [401, 529, 200][asked % 3] ?? 401;
      asked += 1;
      const error = JSON.stringify({ type: "error", error: { type: "api_error", message: text } });
      const type = status === 200 ? "text/event-stream" : "application/json";
      response.writeHead(status, { "content-type": type, "request-id": text });
      response.end(status === 200 ? `event: error\ndata: ${error}\n\n` : error);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, asked: () => asked };
}

test("a provider that repeats its key in every spelling is not repeated", async () => {
  const { url, asked } = await openHostile();
  const store = join(folder, "ledger.db");
  const env = {
    HOME: folder,
    STRATA_STORE: store,
    STRATA_DATA_DIR: folder,
    STRATA_PROVIDERS__ANTHROPIC__RETRIES__ATTEMPTS_MAX: "1",
    ANTHROPIC_API_KEY: plantedKey,
    ANTHROPIC_BASE_URL: url,
  };
  const said: Ran[] = [];
  for (const how of [["--json"], [], ["--debug"]].flatMap((each) => [each, each, each])) {
    said.push(await strata(env, "chat", "-p", "hi", ...how));
  }
  expect(asked()).toBe(echoes.length);
  const failed = said.map(({ out, error }) => `${out}${error}`).join("\n");
  expect(failed).toContain("invalid key [redacted]");

  const { ended } = startStrata(store, ["chat", "-p", "hi", "--debug"], env);
  said.push({ ...(await ended), status: 1 });
  const sessions = await strata(env, "sessions", "list", "--json");
  const [{ id = "" } = {}] = JSON.parse(sessions.out) as { readonly id?: string }[];
  for (const words of [
    ["sessions", "list"],
    ["sessions", "show", id],
    ["sessions", "export", id],
    ["stats", "reliability", "--json"],
    ["stats", "turns", "--json"],
    ["ledger", "check"],
    ["smoke"],
    ["smoke", "--json"],
    ["config", "show", "--json"],
    ["doctor"],
  ]) {
    said.push(await strata(env, ...words));
  }
  expect(said.flatMap(({ out, error }) => [out, error].map(findPlanted)).filter(Boolean)).toEqual(
    [],
  );
  expect(searchFiles(folder)).toEqual([]);
});

test("a configuration full of secrets is shown, checked and failed with without one", async () => {
  const file = join(folder, "strata.yaml");
  const url = `postgres://ana:${encodeURIComponent(plantedPassword)}@127.0.0.1:1/x`;
  writeFileSync(
    file,
    `ledger: { store: '${url}' }
providers:
  anthropic: { api_key: ${plantedKey}, headers: { x-session-token: ${plantedToken} } }
  openai: { api_key: ${plantedOpenaiKey}, base_url: 'https://ana:${plantedToken}@host/v1' }
`,
  );
  const broken = join(folder, "broken.yaml");
  writeFileSync(
    broken,
    `providers: { anthropic: { api_key: ["${plantedKey}"\n  token: ${plantedToken}`,
  );
  const said: Ran[] = [];
  for (const config of [file, broken]) {
    for (const words of [
      ["config", "show"],
      ["config", "show", "--json"],
      ["config", "check"],
      ["config", "check", "--json"],
      ["sessions", "list"],
      ["chat", "-p", "hi", "--debug"],
    ]) {
      said.push(await strata({ HOME: folder }, ...words, "--config", config));
    }
  }
  for (const store of [
    url,
    url.replace("127.0.0.1:1", "no host"),
    url.replace("postgres", "http"),
  ]) {
    said.push(await strata({ HOME: folder, STRATA_STORE: store }, "sessions", "list", "--debug"));
  }
  expect(said.map(({ out, error }) => `${out}${error}`.length > 0)).not.toContain(false);
  expect(said.flatMap(({ out, error }) => [out, error].map(findPlanted)).filter(Boolean)).toEqual(
    [],
  );
});
