// Goal: a configured secret that a tool finds goes nowhere. Method: real sessions with a scripted model; the tools print the
// key in every spelling, and the ledger, the requests, the events, the parts and the kept files are searched for it.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { findPlanted, plantedKey, plantedPassword } from "../../harness/planted-key.ts";
import { createSecretRedact, redactMessage } from "../../src/core/events/redact-secrets.ts";
import { cheapCounter } from "../../src/core/tokens/cheap-counter.ts";
import { defineTool } from "../../src/core/tools/define-tool.ts";
import type { Message } from "../../src/core/message/message.ts";
import type { SettledUse } from "../../src/edge/tools/dispatch/dispatch-options.ts";
import { openEngine } from "../../src/host/open-engine.ts";
import { createSimulator, type Prompt, type Reply } from "../../src/simulator/index.ts";
import { startStrata } from "../run-strata.ts";
import { openScriptedHost } from "./scripted-host.ts";

/** As it is, encoded for a URL, in both cases of hex, and in base64 with both alphabets after 0, 1 and 2 bytes. */
function spellings(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString("hex");
  const shifted = [0, 1, 2].map((before) => Buffer.concat([Buffer.alloc(before, "x"), bytes]));
  return [
    secret,
    encodeURIComponent(secret),
    hex,
    hex.toUpperCase(),
    ...shifted.map((all) => all.toString("base64")),
    ...shifted.map((all) => all.toString("base64url")),
  ];
}

/**
 * The suite searches for planted keys in what programs print, and here bash prints one on purpose: so it is the planted key
 * backwards.
 */
const ownKey = plantedKey.split("").toReversed().join("");
/** Put together by the shell: the commands of the model do not hold it. */
const saysKey = `k=${ownKey.slice(0, 9)}; k="$k"${ownKey.slice(9, 20)}; k="$k"${ownKey.slice(20, 30)}; k="$k"${ownKey.slice(30)}`;

function hasOwnKey(text: string): boolean {
  return spellings(ownKey).some((spelled) => text.includes(spelled.slice(8, -4)));
}

function toText(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === "bigint" ? String(each) : each,
  );
}

describe("a key that bash prints is taken out of the result", () => {
  test("as it is, for a URL, in hex, in base64 at every alignment, in errors and in long outputs", async () => {
    const settled: SettledUse[] = [];
    const kit = await openScriptedHost({
      env: { ANTHROPIC_API_KEY: ownKey },
      onSettled: (use) => void settled.push(use),
    });
    const parts: unknown[] = [];
    kit.host.events.subscribe((event) => void parts.push(event));
    const bash = (command: string): { readonly name: string; readonly input: unknown } => ({
      name: "bash",
      input: { command: `${saysKey}; ${command}` },
    });
    const results = await kit.useTools([
      bash('echo "before $k after"'),
      bash(`printf %s "$k" | od -An -v -tx1 | tr -d ' \\n'`),
      bash(`printf %s "$k" | od -An -v -tx1 | tr -d ' \\n' | tr a-f A-F`),
      bash('for b in "" x xy; do printf %s "$b$k" | base64 -w0; echo; done'),
      bash('for b in "" x xy; do printf %s "$b$k" | base64 -w0 | tr +/ -_; echo; done'),
      bash('printf %s "$k" | base64'),
      bash('yes "$k" | head -n 6000'),
      bash('echo "$k" >&2; exit 3'),
      {
        name: "bash",
        input: { command: `${saysKey}; echo "$k"; exec sleep 60`, timeout_seconds: 1 },
      },
    ]);
    expect(results[0]).toBe("before [redacted] after\n[exit status 0]");
    for (const result of results) expect(result).toContain("[redacted]");
    const outputs = readdirSync(join(kit.workspace, ".strata/outputs"));
    expect(outputs.length).toBeGreaterThan(0);
    const kept = outputs.map((name) =>
      readFileSync(join(kit.workspace, ".strata/outputs", name), "utf8"),
    );
    const lines: string[] = [];
    for await (const line of kit.host.ledger.exportSession("s1")) lines.push(line);
    expect(lines.length).toBeGreaterThan(5);
    for (const text of [...results, ...kept, ...lines, toText([settled, parts, kit.prompts])]) {
      expect(hasOwnKey(text)).toBe(false);
    }
  });

  test("that it reads from the environment of the program", async () => {
    const folder = mkdtempSync(join(tmpdir(), "strata-environ-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const command = "tr '\\0' '\\n' < /proc/$PPID/environ | grep ^ANTHROPIC_API_KEY=";
    const prompts: Prompt[] = [];
    const model = (prompt: Prompt): Reply => {
      prompts.push(prompt);
      return prompts.length > 1
        ? { parts: [{ kind: "text", text: "Done." }], stop: "end" }
        : {
            parts: [{ kind: "tool use", name: "bash", inputJson: JSON.stringify({ command }) }],
            stop: "tool use",
          };
    };
    const server = await createSimulator({ seed: 1, model }).listen({ port: 0 });
    onTestFinished(() => server.close());
    const [work, configFile] = [join(folder, "work"), join(folder, "strata.yaml")];
    mkdirSync(work);
    writeFileSync(configFile, "tools: { toolset: full, bash: true, confirm: [] }\n");
    const words = ["chat", "-p", "Look.", "--json", "--workspace", work, "--config", configFile];
    const store = join(folder, "ledger.db");
    const env = { ANTHROPIC_API_KEY: ownKey, ANTHROPIC_BASE_URL: server.url, HOME: folder };
    const { out, error } = await startStrata(store, words, env).ended;
    const [result] = prompts.at(-1)?.turns.flatMap(({ toolResults }) => toolResults) ?? [];
    expect([result?.text, error]).toEqual(["ANTHROPIC_API_KEY=[redacted]\n[exit status 0]", error]);
    const stored = readdirSync(folder).filter((name) => name.startsWith("ledger.db"));
    for (const text of [
      out,
      error,
      ...stored.map((name) => readFileSync(join(folder, name), "latin1")),
    ]) {
      expect(hasOwnKey(text)).toBe(false);
    }
  });

  test("in a sub-agent, too: neither it nor its parent is sent the key", async () => {
    const kit = await openScriptedHost({ env: { ANTHROPIC_API_KEY: ownKey } });
    await kit.useTools([
      { name: "delegate", input: { task: "Look at the environment." } },
      { name: "bash", input: { command: `${saysKey}; echo "found $k"` } },
    ]);
    const results = kit.prompts.flatMap(({ turns }) => turns.flatMap((turn) => turn.toolResults));
    expect(results.map(({ text }) => text)).toContain("found [redacted]\n[exit status 0]");
    expect(hasOwnKey(toText(kit.prompts))).toBe(false);
  });

  test("a text that only begins like a key stays as it is", async () => {
    const kit = await openScriptedHost();
    writeFileSync(
      join(kit.workspace, "docs.md"),
      "Keys look like sk-ant-api03-… and are secret.\n",
    );
    const [result] = await kit.useTools([{ name: "read", input: { path: "docs.md" } }]);
    expect(result).toBe("Keys look like sk-ant-api03-… and are secret.\n");
  });

  test("a shorter key is warned of", async () => {
    const { notices } = await openScriptedHost({ env: { OPENAI_API_KEY: "sk-short" } });
    expect(notices.filter((notice) => notice.includes("characters"))).toEqual([
      "providers.openai.api_key has 8 characters. A secret of fewer than 12 is not taken out of what tools print: use a longer one.",
    ]);
  });
});

describe("openEngine and an application's own loop", () => {
  const leak = defineTool({
    name: "leak",
    description: "Finds things.",
    sideEffects: "read",
    run: () => ({ text: spellings(plantedKey).join(" | "), metadata: { found: [plantedKey] } }),
  });
  const fail = defineTool({
    name: "fail",
    description: "Fails.",
    sideEffects: "read",
    run: () => Promise.reject(new Error(`no access with ${plantedKey}`)),
  });

  async function usedBy(name: string): Promise<readonly string[]> {
    const model = (prompt: Prompt): Reply =>
      prompt.turns.some(({ toolResults }) => toolResults.length > 0)
        ? { parts: [{ kind: "text", text: "Done." }], stop: "end" }
        : { parts: [{ kind: "tool use", name, inputJson: "{}" }], stop: "tool use" };
    await using engine = await openEngine({
      model: "claude-sonnet-5-5",
      tools: [leak, fail],
      simulate: { model },
      env: { ANTHROPIC_API_KEY: plantedKey },
      counter: cheapCounter,
    });
    const session = await engine.session("s1");
    const shown: string[] = [];
    for await (const part of session.run("Look.")) shown.push(toText(part));
    for await (const line of engine.ledger.exportSession("s1")) shown.push(line);
    return shown;
  }

  test.each(["leak", "fail"])("the tool %s of one's own gives nothing away", async (name) => {
    const shown = await usedBy(name);
    expect(shown.join("\n")).toContain("[redacted]");
    expect(findPlanted(shown.join("\n"))).toBeNull();
  });

  test("a result that an application records itself is cleaned before it is stored", async () => {
    await using engine = await openEngine({
      model: "claude-sonnet-5-5",
      tools: [leak],
      simulate: true,
      env: { ANTHROPIC_API_KEY: plantedKey },
      counter: cheapCounter,
    });
    const session = await engine.session("own");
    const first = await session.prepare("Look.");
    const use = { type: "tool_use", id: "toolu_1", name: "leak", input: {} };
    const usage = { input_tokens: 10, output_tokens: 5 };
    const { toolUses } = await session.record(first, {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "claude-sonnet-5-5",
      content: [use],
      stop_reason: "tool_use",
      stop_sequence: null,
      usage,
    });
    expect(toolUses.map(({ id }) => id)).toEqual(["toolu_1"]);
    const data = Buffer.from(`pixels ${plantedKey} pixels`).toString("base64");
    const image = {
      type: "image",
      source: { kind: "base64", mediaType: "image/png", data },
    } as const;
    const text = { type: "text", text: spellings(plantedKey).join("\n") } as const;
    const next = await session.prepare([{ toolUseId: "toolu_1", content: [text, image] }]);
    const body = JSON.stringify(next.toObject());
    expect(body).toContain("[image withheld: it holds a configured secret]");
    expect(findPlanted(body)).toBeNull();
    await session.abandon();
    const lines: string[] = [];
    for await (const line of engine.ledger.exportSession("own")) lines.push(line);
    expect(findPlanted(lines.join("\n"))).toBeNull();
  });
});

describe("what is taken out", () => {
  const redact = createSecretRedact([plantedPassword, plantedKey]);

  test("a password with signs, in every spelling, wherever it stands; everything else stays", () => {
    for (const spelled of spellings(plantedPassword)) {
      expect(findPlanted(redact(`a ${spelled} b`))).toBeNull();
      expect(redact(`a ${spelled} b`)).toMatch(/^a .{0,6}\[redacted\].{0,4} b$/);
    }
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        fc.pre(!before.includes("[redacted]"));
        expect(redact(`${before}\n${plantedKey}\n${after}`)).toBe(
          `${before}\n[redacted]\n${after}`,
        );
        expect(redact(before)).toBe(before);
      }),
    );
  });

  test("a message without a secret is the same message, with its bytes", () => {
    const block = { type: "text", text: "fine", json: '{"type":"text", "text":"fine"}' } as const;
    const message: Message = {
      role: "tool",
      content: [{ type: "tool_result", toolUseId: "t", content: [block], isError: false }],
    };
    expect(redactMessage(message, redact)).toBe(message);
  });
});
