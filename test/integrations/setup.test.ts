// Goal: setup changes only what a client needs, and gives back every byte. Method: settings files of every shape.
import { chmodSync, lstatSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { parse as parseJson } from "jsonc-parser";
import { parse as parseToml } from "smol-toml";
import { describe, expect, test } from "vitest";
import { makeHome, oddEnv, oddJson, oddToml } from "./setup-kit.ts";

const url = "http://127.0.0.1:8787";
const settings = ".claude/settings.json";

const ofClaude = {
  env: {
    ANTHROPIC_BASE_URL: url,
    ENABLE_TOOL_SEARCH: "true",
    CLAUDE_CODE_ENABLE_FINE_GRAINED_TOOL_STREAMING: "1",
  },
  enabledPlugins: { "strata@strata": true },
};

function readJson(text: string): Record<string, Record<string, unknown>> {
  return parseJson(text.replace(/^\uFEFF/, ""), [], { allowTrailingComma: true });
}

describe("strata setup claude", () => {
  test("sets what Claude Code needs, says so, and gives back the home as it was", async () => {
    const home = makeHome();
    home.put(settings, '{\n\t// mine\n\t"permissions": {"allow":["Bash(ls:*)"]}   ,\n}\n');
    const before = home.all();
    const { status, out } = await home.run("setup", "claude", "--yes");
    expect(status).toBe(0);
    expect(out).toContain('+ env.ANTHROPIC_BASE_URL = "http://127.0.0.1:8787"');
    expect(home.text(settings)).toContain(
      '\t// mine\n\t"permissions": {"allow":["Bash(ls:*)"]}   ,\n}\n',
    );
    expect(readJson(home.text(settings))).toMatchObject(ofClaude);
    expect(home.all()).not.toEqual(before);
    const undone = await home.run("setup", "claude", "--undo");
    expect(undone.out).toBe("Claude Code is as it was before.\n");
    expect(home.all()).toEqual({ ...before, [join(home.path, "data")]: "" });
  });

  test("changes nothing else in settings of any shape, and undoes to the byte", async () => {
    await fc.assert(
      fc.asyncProperty(oddJson, async ({ value, text }) => {
        const home = makeHome();
        home.put(settings, text);
        expect(await home.run("setup", "claude", "--yes")).toMatchObject({ status: 0, error: "" });
        const after = readJson(home.text(settings));
        expect(after).toMatchObject(ofClaude);
        const own = readJson(JSON.stringify(value));
        // Their variables win where both have one: those are kept.
        expect(after["env"]).toEqual({ ...ofClaude.env, ...own["env"] });
        const ours = ["env", "statusLine", "enabledPlugins", "extraKnownMarketplaces"];
        const others = Object.keys(after).filter((name) => !ours.includes(name));
        expect(others.map((name) => after[name])).toEqual(others.map((name) => own[name]));
        expect(Object.keys(own).filter((name) => !(name in after))).toEqual([]);
        await home.run("setup", "claude", "--undo");
        expect(home.text(settings)).toBe(text);
      }),
      { numRuns: 25 },
    );
  });

  test("undoes its own settings only where the file was changed since", async () => {
    await fc.assert(
      fc.asyncProperty(oddJson, async ({ value, text }) => {
        const home = makeHome();
        home.put(settings, text);
        await home.run("setup", "claude", "--yes");
        // What Claude Code does when someone chooses a theme: it writes the whole file anew.
        const now = readJson(home.text(settings));
        home.put(settings, JSON.stringify({ ...now, theme: "dark" }, null, 2));
        await home.run("setup", "claude", "--undo");
        expect(readJson(home.text(settings))).toEqual({
          ...readJson(JSON.stringify(value)),
          theme: "dark",
        });
      }),
      { numRuns: 25 },
    );
  });

  test("leaves a value that the user changed since, and says so", async () => {
    const home = makeHome();
    await home.run("setup", "claude", "--yes");
    home.put(settings, home.text(settings).replace(url, "http://127.0.0.1:4000"));
    const { out } = await home.run("setup", "claude", "--undo");
    expect(out).toContain("env.ANTHROPIC_BASE_URL was changed since: it stays");
    expect(readJson(home.text(settings))).toEqual({
      env: { ANTHROPIC_BASE_URL: "http://127.0.0.1:4000" },
    });
  });

  test("a second setup keeps what stood there before the first", async () => {
    const home = makeHome();
    home.put(settings, '{"env":{"ANTHROPIC_BASE_URL":"https://house.example"}}');
    const first = await home.run("setup", "claude", "--yes");
    expect(first.out).toContain(
      'It was "https://house.example". If calls should go on there, say so in strata.yaml: gateway.upstreams.anthropic.base_url.',
    );
    await home.run("setup", "claude", "--yes", "--url", "http://127.0.0.1:9000/");
    expect(readJson(home.text(settings))["env"]?.["ANTHROPIC_BASE_URL"]).toBe(
      "http://127.0.0.1:9000",
    );
    const again = await home.run("setup", "claude", "--yes", "--url", "http://127.0.0.1:9000");
    expect(again.out).toContain("set up for http://127.0.0.1:9000 already");
    await home.run("setup", "claude", "--undo");
    expect(home.text(settings)).toBe('{"env":{"ANTHROPIC_BASE_URL":"https://house.example"}}');
  });

  test("keeps a status line of the user's own", async () => {
    const home = makeHome();
    home.put(settings, '{"statusLine":{"type":"command","command":"mine"}}');
    const { out } = await home.run("setup", "claude", "--yes");
    expect(out).toContain("has a statusLine: yours stays");
    expect(readJson(home.text(settings))["statusLine"]).toEqual({
      type: "command",
      command: "mine",
    });
  });

  test("keeps a link to the settings, and their mode", async () => {
    const home = makeHome();
    home.put("dotfiles/claude.json", "{}");
    chmodSync(join(home.path, "dotfiles/claude.json"), 0o640);
    home.put(".claude/other", "");
    symlinkSync("../dotfiles/claude.json", join(home.path, settings));
    await home.run("setup", "claude", "--yes");
    expect(lstatSync(join(home.path, settings)).isSymbolicLink()).toBe(true);
    expect(statSync(join(home.path, "dotfiles/claude.json")).mode & 0o777).toBe(0o640);
    expect(readJson(home.text("dotfiles/claude.json"))).toMatchObject(ofClaude);
    await home.run("setup", "claude", "--undo");
    expect(home.text("dotfiles/claude.json")).toBe("{}");
  });

  test("writes nothing without a yes, on a dry run, or over what it cannot read", async () => {
    const home = makeHome();
    home.put(settings, '{"env":{}}');
    const before = home.all();
    expect(await home.run("setup", "claude")).toMatchObject({ status: 2 });
    expect(await home.run("setup", "claude", "--dry-run")).toMatchObject({ status: 0 });
    expect(home.all()).toEqual(before);
    for (const [text, problem] of [
      ['{\n"env": {]', "line 2 is not JSON"],
      ['{"env": 5}', "env is not an object"],
      ["[]", "the file is not an object"],
    ] as const) {
      home.put(settings, text);
      const { status, error } = await home.run("setup", "claude", "--yes");
      expect([status, error]).toEqual([5, expect.stringContaining(problem)]);
      expect(home.text(settings)).toBe(text);
    }
    home.put(settings, Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]));
    expect((await home.run("setup", "claude", "--yes")).error).toContain("is not UTF-8");
  });

  test("nothing to undo is an error that says so", async () => {
    const home = makeHome();
    expect(await home.run("setup", "claude", "--undo")).toMatchObject({
      status: 7,
      error: "strata: Claude Code was not set up here\n  there is nothing to undo\n",
    });
    expect((await home.run("setup", "cluade")).error).toContain("did you mean claude?");
  });
});

describe("strata setup for other clients", () => {
  test("Codex: one setting of config.toml, whatever stands there, and back to the byte", async () => {
    await fc.assert(
      fc.asyncProperty(oddToml, async (text) => {
        const home = makeHome();
        home.put(".codex/config.toml", text);
        expect(await home.run("setup", "codex", "--yes")).toMatchObject({ status: 0, error: "" });
        const { openai_base_url: set, ...rest } = parseToml(home.text(".codex/config.toml"));
        const { openai_base_url: _old, ...before } = parseToml(text);
        expect([set, rest]).toEqual([`${url}/v1`, before]);
        const kept = text.split(/\r?\n/).filter((line) => !line.startsWith("openai_base_url"));
        const lines = [...home.text(".codex/config.toml").split(/\r?\n/), ""];
        for (const line of kept) expect(lines).toContain(line);
        await home.run("setup", "codex", "--undo");
        expect(home.text(".codex/config.toml")).toBe(text);
      }),
      { numRuns: 25 },
    );
  });

  test("gemini-cli: one line of its .env, and back to the byte", async () => {
    await fc.assert(
      fc.asyncProperty(oddEnv, async (text) => {
        const home = makeHome();
        home.put(".gemini/.env", text);
        await home.run("setup", "gemini-cli", "--yes");
        const lines = home.text(".gemini/.env").split(/\r?\n/);
        const last = lines.findLast((line) => line.startsWith("GOOGLE_GEMINI_BASE_URL="));
        expect(last).toBe(`GOOGLE_GEMINI_BASE_URL=${url}/gemini`);
        await home.run("setup", "gemini-cli", "--undo");
        expect(home.text(".gemini/.env")).toBe(text);
      }),
      { numRuns: 25 },
    );
  });

  test("letta: the address of a provider that is connected; without one it says what to do", async () => {
    const home = makeHome();
    const file = ".letta/lc-local-backend/providers/auth.json";
    const missing = await home.run("setup", "letta", "--yes");
    expect(missing).toMatchObject({ status: 7 });
    expect(missing.error).toContain("connect Anthropic in letta first");
    const text = '{"version":1,"providers":{"lc-anthropic":{"auth":{"type":"api","key":"k"}}}}';
    home.put(file, text);
    await home.run("setup", "letta", "--yes");
    expect(readJson(home.text(file))["providers"]).toEqual({
      "lc-anthropic": { base_url: url, auth: { type: "api", key: "k" } },
    });
    await home.run("setup", "letta", "--undo");
    expect(home.text(file)).toBe(text);
  });

  test("opencode and pi: an address for each provider, in files that were not there", async () => {
    const home = makeHome();
    await home.run("setup", "opencode", "--yes");
    await home.run("setup", "pi", "--yes", "--json");
    expect(readJson(home.text(".config/opencode/opencode.json"))["provider"]).toEqual({
      anthropic: { options: { baseURL: `${url}/v1` } },
      openai: { options: { baseURL: `${url}/v1` } },
    });
    expect(readJson(home.text(".pi/agent/models.json"))["providers"]).toEqual({
      anthropic: { baseUrl: url },
      openai: { baseUrl: `${url}/v1` },
    });
    await home.run("setup", "opencode", "--undo");
    await home.run("setup", "pi", "--undo");
    expect(home.all()).toEqual({ [join(home.path, "data")]: "" });
  });
});

test("what setup keeps for undoing can be read by its owner only", async () => {
  const home = makeHome();
  await home.run("setup", "codex", "--yes");
  const [file = ""] = Object.keys(home.all()).filter((each) =>
    /setup\/codex-\w+\.json$/.test(each),
  );
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ version: 1 });
});
