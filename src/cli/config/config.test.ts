import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  findPlanted,
  plantedKey,
  plantedOpenaiKey,
  plantedToken,
  plantedUrl,
} from "../../../harness/planted-key.ts";
import { hashConfig } from "../../edge/config/trusted-files.ts";
import { parseInput } from "../command.ts";
import { configCommands } from "./config-commands.ts";
import { refreshSettings } from "../../../scripts/config-document.ts";
import { createTestIo, type Ran } from "../test-kit.ts";

let folder = "";
let good = "";
let bad = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "strata-cli-config-"));
  good = join(folder, "good.yaml");
  bad = join(folder, "bad.yaml");
  writeFileSync(
    good,
    `policies: { default: nexo }\nledger: { store: '${plantedUrl}' }\n` +
      `providers: { anthropic: { api_key: ${plantedKey}, headers: { X-Auth: ${plantedToken} } } }\n`,
  );
  writeFileSync(
    bad,
    `polices: {}\nproviders: { a: { kind: x, api_key: '${plantedToken} here' } }\n`,
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

async function run(
  name: string,
  words: readonly string[],
  env: Record<string, string> = {},
): Promise<Ran> {
  const command = configCommands.find((each) => each.name === name);
  if (command === undefined) throw new Error(`no command ${name}`);
  const loaded = await command.load();
  const { io, said } = createTestIo(env);
  const status = await loaded.run(parseInput(command, words), io);
  return { status, out: stripVTControlCharacters(said.out), error: said.error };
}

describe("strata config show", () => {
  test("prints every value with where it came from, and no secret", async () => {
    const env = { STRATA_TOOLS__BASH: "true", OPENAI_API_KEY: plantedOpenaiKey };
    const { status, out } = await run("config show", ["--config", good], env);
    expect(status).toBe(0);
    const lines = out.split("\n").map((line) => line.split(/ {2,}/));
    expect(lines).toContainEqual(["policies.default", "nexo", `${good}:1`]);
    expect(lines).toContainEqual(["ledger.store", "postgres://***@db:5432/x", `${good}:2`]);
    expect(lines).toContainEqual(["providers.anthropic.api_key", "***", `${good}:3`]);
    expect(lines).toContainEqual(["providers.openai.api_key", "***", "environment OPENAI_API_KEY"]);
    expect(lines).toContainEqual(["tools.bash", "true", "environment STRATA_TOOLS__BASH"]);
    expect(lines).toContainEqual(["ledger.lease_seconds", "30", "default"]);
    expect(findPlanted(out)).toBeNull();
  });

  test("prints one setting, or those below it", async () => {
    const words = ["policies", "--config", good, "--json"];
    const { out } = await run("config show", words);
    expect(JSON.parse(out)).toMatchObject([
      {
        key: "policies.default",
        value: "nexo",
        from: `${good}:1`,
        origin: { line: 1, column: 22 },
      },
      { key: "policies.layout.volatile", value: null, from: "default" },
      { key: "policies.layout.padding", value: null, from: "default" },
      { key: "policies.layout.tool_order", value: null, from: "default" },
      { key: "policies.keep_warm.usd_per_hour", value: null, from: "default" },
      { key: "policies.stored_prefix.usd_per_hour", value: null, from: "default" },
    ]);
  });

  test("knows what a wrong key was meant to be", async () => {
    await expect(run("config show", ["compact_at_pct", "--config", good])).rejects.toMatchObject({
      code: "not-found",
      hint: "did you mean llm.context_optimization.compaction.compact_at_pct?",
    });
  });

  test("of a broken configuration says what is wrong", async () => {
    await expect(run("config show", ["--config", bad])).rejects.toMatchObject({
      code: "config-invalid",
      message: expect.stringContaining(
        `${bad}:1:1: polices is not a setting; did you mean policies?`,
      ),
    });
  });
});

describe("strata config check", () => {
  test("is content with a good file, whatever variables say", async () => {
    const { status, out } = await run("config check", [good], { STRATA_TOOLS__BASH: "maybe" });
    expect([status, out]).toEqual([0, `ok: ${good}\n`]);
  });

  test("names everything that is wrong, with status 5 and without secrets", async () => {
    const { status, out } = await run("config check", [bad]);
    expect(status).toBe(5);
    expect(out.split("\n")).toEqual([
      `error    ${bad}:1:1: polices is not a setting; did you mean policies?`,
      `error    ${bad}:2:25: providers.a.kind is "x", but must be one of anthropic, openai-chat, openai-responses, gemini, bedrock, bedrock-invoke, vertex-anthropic, openai-compatible, vertex-gemini, simulator; correct it, or remove it`,
      `error    ${bad}:2:37: providers.a.api_key must be a key without spaces or line breaks; correct it, or remove it`,
      `3 errors: ${bad}`,
      "",
    ]);
  });

  test("tells machines the same", async () => {
    const { out } = await run("config check", [bad, "--json"]);
    expect(JSON.parse(out)).toMatchObject({
      ok: false,
      files: [bad],
      problems: [
        {
          severity: "error",
          origin: { kind: "file", file: bad, line: 1, column: 1 },
          message: "polices is not a setting",
          hint: "did you mean policies?",
        },
        {},
        {},
      ],
    });
  });

  test("warns of what the file could not say in a workspace, where it may be found in one", async () => {
    const file = join(folder, "deploy", "strata.yaml");
    mkdirSync(join(folder, "deploy"));
    writeFileSync(file, "tools: { bash: true }\nmodels: { default: claude-haiku-4-5 }\n");
    const { status, out } = await run("config check", [file]);
    expect(status).toBe(0);
    expect(out.split("\n")).toEqual([
      `warning  ${file}:1:1: tools cannot be set in a file that is found in a workspace: another person or the agent may have written it; set it in your own file (strata config path names it), or name this file with --config or STRATA_CONFIG`,
      `ok: ${file}`,
      "",
    ]);
    mkdirSync(join(folder, "strata"));
    const own = join(folder, "strata", "strata.yaml");
    writeFileSync(own, "tools: { bash: true }\n");
    const { out: ofOwn } = await run("config check", [own], { XDG_CONFIG_HOME: folder });
    rmSync(join(folder, "strata"), { recursive: true });
    expect(ofOwn).toBe(`ok: ${own}\n`);
  });

  test("of a file that is not there fails", async () => {
    await expect(run("config check", [join(folder, "none.yaml")])).rejects.toMatchObject({
      code: "not-found",
    });
  });

  test("without a file checks everything that holds here", async () => {
    const workspace = join(folder, "workspace");
    mkdirSync(join(workspace, ".git"), { recursive: true });
    writeFileSync(join(workspace, "strata.yaml"), "tools: { bash: true }\n");
    const { status, out } = await run("config check", ["--workspace", workspace], {
      XDG_CONFIG_HOME: folder,
    });
    expect(status).toBe(5);
    expect(out).toContain("tools cannot be set in a file that is found in a workspace");
  });
});

test("strata config path names every file that is looked at, and which are there", async () => {
  const workspace = join(folder, "repo", "sub");
  mkdirSync(join(folder, "repo", ".git"), { recursive: true });
  mkdirSync(workspace);
  writeFileSync(join(folder, "repo", "strata.yaml"), "");
  const words = ["--workspace", workspace, "--json"];
  const { out } = await run("config path", words, { XDG_CONFIG_HOME: folder });
  expect(JSON.parse(out)).toEqual([
    {
      path: join(folder, "strata", "strata.yaml"),
      reason: "your own, from XDG_CONFIG_HOME",
      state: "missing",
      rights: "all keys",
      isThere: false,
    },
    {
      path: join(folder, "repo", "strata.yaml"),
      reason: "of the repository it is in",
      state: "read",
      rights: "only allowed keys: it was found in a workspace",
      isThere: true,
    },
    {
      path: join(workspace, "strata.yaml"),
      reason: "of the workspace",
      state: "missing",
      rights: "only allowed keys: it was found in a workspace",
      isThere: false,
    },
  ]);
});

const ownerEnv = (): Record<string, string> => ({ XDG_CONFIG_HOME: join(folder, "owner") });

describe("a named file that lies in the workspace", () => {
  let words: readonly string[] = [];
  let [file, hash] = ["", ""];
  const show = (): ReturnType<typeof run> =>
    run("config show", ["tools.bash", ...words], ownerEnv());

  beforeEach(() => {
    const workspace = join(folder, "trusting");
    rmSync(workspace, { recursive: true, force: true });
    rmSync(join(folder, "owner"), { recursive: true, force: true });
    mkdirSync(workspace);
    file = join(workspace, "deploy.yaml");
    writeFileSync(file, "tools: { bash: true }\n");
    hash = hashConfig("tools: { bash: true }\n");
    words = ["--workspace", workspace, "--config", file];
  });

  test("has no effect until its content is trusted, and again after a change", async () => {
    await expect(show()).rejects.toMatchObject({
      code: "config-invalid",
      message: expect.stringContaining(`its content is not trusted (${hash})`),
      hint: expect.stringContaining(`strata config trust ${file}`),
    });
    const trust = await run("config trust", [file, "--trust", hash, ...words], ownerEnv());
    expect([trust.status, trust.out]).toEqual([
      0,
      `${file} is trusted with this content, ${hash}. A change has no effect until it is trusted too.\n`,
    ]);
    expect((await show()).out).toContain("true");
    writeFileSync(file, "tools: { bash: true, confirm: [] }\n");
    await expect(show()).rejects.toMatchObject({ code: "config-invalid" });
  });

  test("is not trusted without a terminal unless its hash is given, and never with another one", async () => {
    await expect(run("config trust", [file, ...words], ownerEnv())).rejects.toMatchObject({
      code: "usage",
      message: `${file} has the hash ${hash}, and there is no terminal to ask on`,
      hint: `look at the file, then add --trust ${hash}; nothing was changed`,
    });
    const other = [file, "--trust", "sha256:00", ...words];
    await expect(run("config trust", other, ownerEnv())).rejects.toMatchObject({
      code: "conflict",
    });
    await expect(show()).rejects.toMatchObject({ code: "config-invalid" });
  });

  test("is listed with its state by config path and config check", async () => {
    const path = await run("config path", [...words], ownerEnv());
    expect(path.out).toMatch(
      /deploy\.yaml +refused +option --config +nothing: it lies in the workspace, and its content is not trusted\n/,
    );
    const refused = await run("config check", [...words], ownerEnv());
    expect(refused.status).toBe(5);
    expect(refused.out).toContain(`refused  ${file} (option --config; may set nothing`);
    await run("config trust", [file, "--trust", hash, ...words], ownerEnv());
    const trusted = await run("config check", [...words], ownerEnv());
    expect([trusted.status, trusted.out]).toEqual([
      0,
      `read     ${file} (option --config; may set all keys: its content is trusted)\nok: ${file}\n`,
    ]);
  });

  test.each([
    ["that does not exist", null, "not-found"],
    ["with an error", "tols: 1\n", "config-invalid"],
  ])("%s is not trusted", async (_name, text, code) => {
    if (text === null) rmSync(file);
    else writeFileSync(file, text);
    const attempt = run("config trust", [file, "--trust", hash, ...words], ownerEnv());
    await expect(attempt).rejects.toMatchObject({ code });
  });
});

test("included files are listed by config path, and each setting says its file", async () => {
  const file = join(folder, "main.yaml");
  writeFileSync(file, "include: part.yaml\n");
  writeFileSync(join(folder, "part.yaml"), "agents: { ana: { langage: English } }\n");
  const { out: wrong } = await run("config check", [file]);
  expect(wrong).toContain("agents.ana.langage is not a setting; did you mean language?");
  writeFileSync(join(folder, "part.yaml"), "agents: { ana: { language: English } }\n");
  const { out: paths } = await run("config path", ["--config", file]);
  expect(paths).toContain("included by main.yaml");
  const { out } = await run("config show", ["agents.ana.language", "--config", file]);
  expect(out).toMatch(/English +\S*part\.yaml:1/);
});

describe("docs/configuration.md", () => {
  const document = readFileSync("docs/configuration.md", "utf8");

  test("lists every setting as the schema has it", () => {
    expect(refreshSettings(document)).toBe(document);
  });

  test("its examples are configurations without a mistake", async () => {
    const examples = [...document.matchAll(/```yaml\n(.*?)```/gs)].map(([, yaml = ""]) => yaml);
    expect(examples.length).toBeGreaterThan(3);
    // One of them includes these.
    for (const name of ["llm.yaml", "agents.yaml"]) writeFileSync(join(folder, name), "");
    for (const [index, yaml] of examples.entries()) {
      const file = join(folder, `example-${index}.yaml`);
      writeFileSync(file, yaml);
      const { out } = await run("config check", [file]);
      expect(out).toMatch(/^ok: /);
      expect(out).toContain(file);
    }
  });
});
