// Goal: every command of docs/http-api.md works as it stands. Method: a shell reads each one, with curl replaced by what prints its words, and the same request is sent.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { routes } from "../../src/api/routes/routes.ts";
import { makeExample } from "../../src/cli/test-kit.ts";
import { newFolder, openTestApi } from "./kit.ts";

const token = "only-of-these-examples";

const commands = [...readFileSync("docs/http-api.md", "utf8").matchAll(/```sh\n([^]*?)```/g)]
  .flatMap(([, block = ""]) => block.split("\n"))
  .filter((line) => line.startsWith("curl "));

interface Spoken {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** What curl would send. An option that is not known here fails the test. */
function read(command: string, env: NodeJS.ProcessEnv): Spoken {
  const shell = `curl() { printf '%s\\n' "$@"; }\n${command}\n`;
  const told = execFileSync("sh", ["-euc", shell], { env, encoding: "utf8" });
  const words = told.trimEnd().split("\n");
  const headers: Record<string, string> = {};
  let [url, method, body]: [string, string, string | null] = ["", "GET", null];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === "-s" || word === "-sN") continue;
    if (word === "--max-time") words.shift();
    else if (word === "-X") method = words.shift() ?? "";
    else if (word === "-d") body = words.shift() ?? "";
    else if (word === "-H") {
      const [name = "", value = ""] = (words.shift() ?? "").split(/: (.*)/);
      headers[name] = value;
    } else if (word.startsWith("http://")) url = word;
    else throw new Error(`no example uses ${word} yet: ${command}`);
  }
  return { url, method, headers, body };
}

test("there is a command for every route", () => {
  expect(commands.length).toBeGreaterThanOrEqual(routes.length);
  for (const { path, name } of routes) {
    const place = new RegExp(`/strata/v1${path.replaceAll(/\{\w+\}/g, "[^/]+")}["?]`);
    expect([name, commands.some((each) => place.test(each))]).toEqual([name, true]);
  }
});

test("each command is answered", async () => {
  const store = join(newFolder(), "ledger.db");
  await makeExample(store);
  const api = await openTestApi(store, { token });
  const asOwner = { "x-strata-token": token };
  const given = await api.post("/login-codes", {}, asOwner);
  const { code } = (given.body as { readonly data: { readonly code: string } }).data;
  const env = {
    STRATA_URL: api.url,
    STRATA_GATEWAY_TOKEN: token,
    STRATA_LOGIN_CODE: code,
  };
  for (const command of commands) {
    const { url, method, headers, body } = read(command, env);
    const leaving = new AbortController();
    const response = await fetch(url, {
      method,
      body,
      headers: { ...asOwner, ...headers },
      signal: leaving.signal,
    });
    expect([command, response.status]).toEqual([command, 200]);
    const isStream = command.includes("--max-time");
    expect([command, response.headers.get("content-type")]).toEqual([
      command,
      isStream ? "text/event-stream" : "application/json",
    ]);
    // A stream would last for ever.
    if (isStream) leaving.abort();
    else await response.json();
  }
});
