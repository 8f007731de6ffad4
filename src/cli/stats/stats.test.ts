import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { analysisNames } from "../../analytics/analysis-names.ts";
import { StrataError } from "../../core/strata-error.ts";
import { parseInput } from "../command.ts";
import { statsCommands } from "./stats-commands.ts";
import { createTestIo, makeExample, strata } from "../test-kit.ts";

let folder = "";

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "strata-stats-"));
  await makeExample(join(folder, "ledger.db"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const day = ["--from", "2026-11-16", "--to", "2026-11-17"];

async function stats(...words: readonly string[]): Promise<string> {
  const [command] = statsCommands;
  if (command === undefined) throw new Error("there is no command");
  const input = parseInput(command, words);
  const { run } = await command.load();
  const { io, said } = createTestIo({ STRATA_STORE: join(folder, "ledger.db") });
  expect(await run(input, io)).toBe(0);
  return said.out;
}

describe("strata stats", () => {
  test("prints a table with the window and the day of the prices", async () => {
    expect(await stats("cost", "--group-by", "session", ...day)).toMatch(
      new RegExp(
        [
          "session  calls  uncached input  cached input  cache creation  output  hit rate  summary cost  failed cost     cost",
          "build        7             350          5.3k            1.4k     280    75.0 %       \\$0.0300      \\$0.0100  \\$0.1000",
          "",
          "2026-11-16 00:00 to 2026-11-17 00:00 UTC, prices of 2026-\\d\\d-\\d\\d",
          "$",
        ].join("\n"),
      ),
    );
  });

  test("takes a name as a command line spells it", async () => {
    expect(await stats("cache-effectiveness", ...day)).toMatch(/\nclaude-x +7 +350 /);
  });

  test("prints the envelope for machines", async () => {
    const answer: unknown = JSON.parse(await stats("cost", "--group-by", "none", "--json", ...day));
    expect(answer).toMatchObject({
      window: { start: "2026-11-16T00:00:00.000Z", end: "2026-11-17T00:00:00.000Z" },
      data: [{ call_count: 7, cost_usd: "0.100000", summary_cost_usd: "0.030000" }],
      left_out_count: 0,
    });
  });

  test("shows one turn call by call", async () => {
    const out = await stats("turns", "--turn", "turn-1");
    expect(out).toContain("turn-1  build");
    expect(out).toMatch(/\nnumber +status +failure +model/);
    expect(out).toMatch(/\n +2 +complete +- +claude-x +1\.0 s/);
  });

  test("says what it left out, and what is not known", async () => {
    expect(await stats("turns", "--limit", "2", ...day)).toContain(
      "more rows; --limit shows more.",
    );
    expect(await stats("savings", ...day)).toContain("Note: unknown models: claude-x");
  });

  describe("where something is configured", () => {
    let home = "";
    beforeEach(() => {
      home = mkdtempSync(join(tmpdir(), "strata-stats-home-"));
      mkdirSync(join(home, "strata"));
      mkdirSync(join(home, "workspace"));
      vi.spyOn(process, "cwd").mockReturnValue(join(home, "workspace"));
    });
    afterEach(() => {
      vi.restoreAllMocks();
      rmSync(home, { recursive: true, force: true });
    });

    const prices = `models: { add: { claude-x: { provider: garage, prices: [{ input: 2, output: 4 }] } } }\n`;

    test("savings are reckoned with its prices", async () => {
      writeFileSync(join(home, "strata", "strata.yaml"), prices);
      const env = { STRATA_STORE: join(folder, "ledger.db"), XDG_CONFIG_HOME: home };
      const words = ["savings", "--group-by", "none", "--json", ...day];
      const { out, error } = await strata(env, "stats", ...words);
      expect(error).toBe("");
      // Seven calls of 1000 tokens in and 40 out.
      expect(JSON.parse(out)).toMatchObject({
        data: [{ no_cache: { cost_usd: "0.015120", unpriced_call_count: 0 } }],
      });
    });

    test("a broken file in the workspace is only a warning", async () => {
      const store = join(folder, "ledger.db");
      writeFileSync(join(home, "strata", "strata.yaml"), `ledger: { store: ${store} }\n${prices}`);
      writeFileSync(join(home, "workspace", "strata.yaml"), "ledger: { store: /else.db }\nx: 1\n");
      const env = { XDG_CONFIG_HOME: home };
      const listed = await strata(env, "sessions", "--all");
      expect(listed).toMatchObject({ status: 0, error: "" });
      expect(listed.out).toContain("build");
      const asked = await strata(env, "stats", "savings", "--json", ...day);
      expect(asked.status).toBe(0);
      expect(asked.error).toContain("prices that are configured here are not used");
      expect(JSON.parse(asked.out)).toMatchObject({
        data: [{ no_cache: { cost_usd: "0.015120" } }],
      });
    });

    test("simulated sessions are found where no provider has answered yet, and said to be so", async () => {
      await makeExample(join(home, "simulated.db"));
      const env = { STRATA_DATA_DIR: home, XDG_CONFIG_HOME: home };
      const found = await strata(env, "stats", "cost", "--from", "2026-11-10");
      expect(found.error).toContain(`these are simulated sessions, from ${home}/simulated.db`);
      expect(found.status).toBe(0);
      expect(found.out).toContain("claude-x");
      const asked = await strata(env, "stats", "cost", "--simulated", "--from", "2026-11-10");
      expect(asked).toMatchObject({ status: 0, error: "" });
      const named = await strata(env, "stats", "cost", "--store", join(home, "none.db"));
      expect(named.status).toBe(7);
      expect(named.error).toContain(`see them with --store ${home}/simulated.db`);
    });
  });

  test("with --json names a refusal by the code of the API (D-11)", async () => {
    const env = { STRATA_STORE: join(folder, "ledger.db") };
    const codes = [
      ["invalid_group_by", 2, ["cost", "--group-by", "modle"]],
      ["turn_not_found", 7, ["turns", "--turn", "t"]],
    ] as const;
    for (const [code, status, words] of codes) {
      const ran = await strata(env, "stats", ...words, "--json");
      expect(JSON.parse(ran.out)).toMatchObject({ error: { code } });
      expect(ran.status).toBe(status);
    }
  });

  test("shows turns that were never closed", async () => {
    const out = await stats("reliability", "--group-by", "none", ...day);
    expect(out).toMatch(/ {2}open turns {2}/);
  });

  test("says when there is nothing", async () => {
    for (const name of analysisNames) {
      const out = await stats(name, "--from", "2026-01-01", "--to", "2026-01-02");
      expect(out).toMatch(/^Nothing in this window\.\n/);
    }
  });

  test.each([
    ["usage", 'there is no question "cots"', "did you mean cost?", ["cots"]],
    ["usage", 'group_by cannot be "modle"', "did you mean model?", ["cost", "--group-by", "modle"]],
    ["usage", 'limit cannot be "0"', "see: strata stats --help", ["cost", "--limit", "0"]],
    ["usage", "--turn does not apply to cost", "it is for turns", ["cost", "--turn", "t"]],
    ["usage", 'to cannot be "soon"', "2026-11-16", ["cost", "--to", "soon"]],
    ["model-unknown", "is unknown", "strata models list", ["savings", "--baseline", "gpt-0"]],
    ["not-found", "there is no turn t", "strata stats turns", ["turns", "--turn", "t"]],
  ])("refuses with %s: %s", async (code, message, hint, words) => {
    const refused = await stats(...words).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(StrataError);
    expect(refused).toMatchObject({
      code,
      message: expect.stringContaining(message),
      hint: expect.stringContaining(hint),
    });
  });
});
