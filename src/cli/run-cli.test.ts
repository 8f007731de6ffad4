import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { commands } from "./commands.ts";
import { runCli } from "./run-cli.ts";
import { createTestIo } from "./test-kit.ts";

async function strata(...words: string[]) {
  const { io, said } = createTestIo({ STRATA_DATA_DIR: "/dev/null/nowhere" });
  const status = await runCli(words, io);
  return { ...said, status };
}

describe("the program", () => {
  test("prints its version", async () => {
    expect(await strata("--version")).toEqual({
      out: `${packageJson.version}\n`,
      error: "",
      status: 0,
    });
  });

  test("shows every command when asked for help, and when asked for nothing", async () => {
    const help = await strata("--help");
    expect(commands.filter(({ name }) => !help.out.includes(name))).toEqual([]);
    expect(help.status).toBe(0);
    expect(await strata()).toEqual({ ...help, status: 2 });
  });

  test("explains a command by help, --help and -h alike", async () => {
    const help = await strata("models", "show", "--help");
    expect(await strata("help", "models", "show")).toEqual(help);
    expect(await strata("models", "show", "-h")).toEqual(help);
  });

  test.each(commands)("explains $name with examples", async ({ name, examples, options }) => {
    const { out, status } = await strata(...name.split(" "), "--help");
    expect(status).toBe(0);
    for (const command of Object.keys(examples)) expect(out).toContain(command);
    for (const option of Object.keys(options)) expect(out).toContain(`--${option}`);
  });
});

describe("what a user types wrong", () => {
  test("is repeated without steering the terminal", async () => {
    const { error } = await strata("models", "show", "x\u001b]0;owned\u0007\u009b2J\u202e");
    expect(error).toContain("is unknown");
    expect(error).not.toMatch(/(?!\n)[\p{Cc}\u202e]/u);
  });

  test.each([
    [["modles"], 'there is no command "modles"', "try: strata models list"],
    [["models", "shwo"], 'there is no command "models shwo"', "try: strata models show"],
    [
      ["doctor", "--jsn"],
      "strata doctor has no option --jsn; did you mean --json?",
      "see: strata doctor --help",
    ],
    [["models", "show"], "strata models show needs ID", "see: strata models show --help"],
    [
      ["doctor", "now"],
      'strata doctor takes no further operand: "now"',
      "see: strata doctor --help",
    ],
    [
      ["models", "list", "--provider"],
      "--provider needs a value: NAME",
      "see: strata models list --help",
    ],
    [
      ["models", "--provider", "openai", "--provider", "google"],
      "--provider is given twice",
      "see: strata models list --help",
    ],
    [["doctor", "--json=yes"], "--json takes no value", "see: strata doctor --help"],
  ])("gets an error, the next thing to try, and status 2: %j", async (words, message, hint) => {
    const { out, error, status } = await strata(...words);
    expect(out).toBe("");
    expect(error).toContain(message);
    expect(error).toContain(hint);
    expect(status).toBe(2);
  });
});

describe("strata doctor", () => {
  test("fails with advice where the data directory cannot be written", async () => {
    const { out, status } = await strata("doctor", "--json");
    expect(status).toBe(8);
    expect(JSON.parse(out)).toMatchObject({
      fit: false,
      findings: [
        { name: "node", state: "ok" },
        { name: "platform" },
        {
          name: "data directory",
          state: "failed",
          detail: expect.stringContaining("STRATA_DATA_DIR"),
        },
        { name: "sqlite", state: "ok" },
        { name: "tokenizer", state: "ok" },
        { name: "postgres driver" },
        { name: "ledger", state: "failed", detail: expect.stringContaining("STRATA_DATA_DIR") },
        { name: "configuration", state: "ok" },
        { name: "keys", state: "absent", detail: expect.stringContaining("ANTHROPIC_API_KEY") },
        { name: "answers", state: "warning", detail: expect.stringMatching(/^simulated, as /) },
      ],
    });
  });

  test("says it in words, without colours if the output is not a terminal", async () => {
    const { out } = await strata("doctor");
    expect(out).toContain("Strata cannot run here yet.");
    expect(out).not.toContain("\u001b[");
  });
});

describe("strata models", () => {
  test("shows a model a user's file adds, and complains of that file by name", async () => {
    const folder = mkdtempSync(join(tmpdir(), "strata-models-"));
    const file = join(folder, "models.json");
    writeFileSync(
      file,
      '{"add":{"llama-x":{"provider":"garage","status":"active","window":8192,"prices":[{"input":1,"output":2}]}}}',
    );
    const { out } = await strata("models", "show", "garage:llama-x", "--models", file, "--json");
    expect(JSON.parse(out)).toMatchObject({ id: "llama-x", windowTokens: 8192, source: file });
    writeFileSync(file, '{"override":{"claude-sonnet-9":{}}}');
    const refused = await strata("models", "list", "--models", file);
    rmSync(folder, { recursive: true });
    expect(refused.error).toContain(`${file}: claude-sonnet-9 overrides a model that is not known`);
    expect(refused.status).toBe(5);
  });

  test("says what keeping a prefix under a name costs, and from when", async () => {
    const { out } = await strata("models", "show", "gemini-3.8-flash");
    expect(out).toContain(
      "on request   for 3,600 s unless asked, $0.5, $1 from 2027-01-01 per MTok and hour, at least 4,096 tokens",
    );
    expect((await strata("models", "show", "gemini-3.5-flash")).out).toContain(
      "for 3,600 s unless asked, an unknown price per MTok and hour",
    );
  });

  test("refuses a file that does not exist", async () => {
    const { error, status } = await strata("models", "--models", "nowhere.json");
    expect(error).toContain("nowhere.json cannot be read");
    expect(status).toBe(5);
  });
});
