// Goal: the command line has no rough edges. Method: the commands, most in this process, on folders of the test's own.
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { plantedKey } from "../harness/planted-key.ts";
import { commands } from "../src/cli/commands.ts";
import { renderGroup } from "../src/cli/help.ts";
import { renderFacts, renderTable } from "../src/cli/table.ts";
import { reportError } from "../src/cli/report-error.ts";
import { addTurn, createTestIo, strata } from "../src/cli/test-kit.ts";
import { wrapLong } from "../src/cli/window.ts";
import { builtInCatalogue } from "../src/core/models/catalogue.ts";
import { findModel } from "../src/core/models/resolve-model.ts";
import { listShortNames } from "../src/core/models/short-names.ts";
import { openLedger } from "../src/edge/stores/open-ledger.ts";
import { runProgram, toProgram, type Ended } from "./run-strata.ts";

let folder: string;
let env: Record<string, string>;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "strata-line-"));
  env = { HOME: folder, STRATA_DATA_DIR: join(folder, "data"), XDG_CONFIG_HOME: folder };
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("a path that cannot be used is two lines, never a stack", () => {
  test.each<readonly string[]>([
    ["lint", "FOLDER/gone.json"],
    ["lint", "FOLDER/loop.json"],
    ["ledger", "migrate", "--store", "FOLDER/file/x.db"],
    ["ledger", "restore", "FOLDER"],
    ["sessions", "import", "FOLDER/gone"],
    ["memory", "add", "MEMORY.md", "hi", "--workspace", "FOLDER/gone"],
    ["models", "--models", "FOLDER"],
    ["config", "--config", "FOLDER"],
    ["skills", "--global", "FOLDER/file"],
    ["sim", "--script", "FOLDER/gone.json"],
    ["explain", "FOLDER/gone.json", "FOLDER/file"],
    ["replay", "FOLDER/gone"],
    ["chat", "-p", "hi", "--workspace", "FOLDER/file"],
    ["smoke", "--config", "FOLDER"],
    ["warm", "--workspace", "FOLDER/gone"],
    ["replay", "FOLDER/dangling"],
    ["lint", "FOLDER/dangling"],
    ["explain", "FOLDER/dangling", "FOLDER/file"],
    ["sessions", "import", "FOLDER/dangling"],
  ])("%j", async (...words) => {
    writeFileSync(join(folder, "file"), "words");
    symlinkSync(join(folder, "loop.json"), join(folder, "loop.json"));
    symlinkSync(join(folder, "nowhere"), join(folder, "dangling"));
    const typed = words.map((word) => word.replace("FOLDER", folder));
    const { status, error } = await strata(env, ...typed);
    expect(status).toBeGreaterThan(1);
    expect(error).toMatch(/^strata: .+\n {2}\S.*\n$/);
  });

  test("a temporary folder that cannot be made is one, too", () => {
    const nowhere = {
      ...env,
      TMPDIR: join(folder, "gone"),
      ANTHROPIC_API_KEY: "",
      STRATA_STORE: "",
    };
    const { status, error } = runProgram(
      join(folder, "x.db"),
      process.execPath,
      ["src/cli/main.ts", "smoke"],
      { env: nowhere },
    );
    expect(status).toBe(7);
    expect(error).toMatch(
      /^strata: .*strata-smoke-\w+ cannot be written: ENOENT.*\n {2}set TMPDIR .*\n$/,
    );
  });
});

test("long lines are wrapped between words, and lines that fit are left alone", () => {
  const red = "\u001b[31mred words\u001b[39m";
  expect(wrapLong(`${red}\nnine of these words\n  a  b`, 12)).toBe(
    `${red}\nnine of\nthese words\n  a  b`,
  );
});

test("a path without permission is two lines", () => {
  const denied = Object.assign(new Error("EACCES: permission denied, open '/x/a.json'"), {
    code: "EACCES",
    syscall: "open",
    path: "/x/a.json",
  });
  const { io, said } = createTestIo();
  expect(reportError(denied, false, io)).toBe(6);
  expect(said.error).toBe(
    "strata: /x/a.json cannot be used: EACCES: permission denied, open '/x/a.json'\n" +
      "  give this user permission for it and its folder, or name another one\n",
  );
});

/** Files of more kilobytes than this cannot be written: that is an error, or it ends the process. */
function runLimited(kilobytes: number, isKilled: boolean, ...words: readonly string[]): Ended {
  const limits = `${isKilled ? "" : "trap '' XFSZ; "}ulimit -f ${kilobytes}; exec "$@"`;
  return runProgram(join(folder, "x.db"), "bash", ["-c", limits, "bash", ...toProgram(words)], {
    env,
  });
}

describe("a long run whose file cannot be finished leaves the old file whole", () => {
  test("replay shows its result", () => {
    const page = join(folder, "page.html");
    writeFileSync(page, "the old page");
    const words = ["replay", "fixtures/transcript.jsonl", "--policy", "none", "--html", page];
    const refused = runLimited(8, false, ...words);
    expect(refused.status).toBe(6);
    expect(refused.out).toContain("6 requests, all under every policy");
    expect(refused.error).toMatch(
      /^strata: the page cannot be written to .*page\.html: EFBIG.*\n {2}name a file in .+\n$/m,
    );
    expect(readdirSync(folder).filter((name) => name !== "data")).toEqual(["page.html"]);
    expect(runLimited(8, true, ...words).status).not.toBe(0);
    expect(readFileSync(page, "utf8")).toBe("the old page");
    expect(runLimited(100_000, true, ...words).status).toBe(0);
    expect(readFileSync(page, "utf8")).toMatch(/^<!doctype html>/i);
  });

  test("an export says why", async () => {
    const ledger = await openLedger(join(folder, "x.db"));
    const setup = {
      agent: "coder",
      role: "unified",
      model: "claude-x",
      provider: "garage",
    } as const;
    await ledger.createSession({ id: "long", ...setup, foundation: "You build." });
    for (let number = 1; number <= 120; number += 1) await addTurn(ledger, "long", number);
    await ledger.close();
    const file = join(folder, "calls.ndjson");
    writeFileSync(file, "the old file");
    const words = ["ledger", "export", "--out", file, "--force"];
    const refused = runLimited(64, false, ...words);
    expect(refused.error).toMatch(/^strata: .*calls\.ndjson cannot be written: EFBIG.*\n {2}.+\n$/);
    expect(runLimited(64, true, ...words).status).not.toBe(0);
    expect(readFileSync(file, "utf8")).toBe("the old file");
    expect(runLimited(100_000, true, ...words).out).toContain("holds 240 calls");
  });
});

describe("a group of commands", () => {
  const groups = [
    ...new Set(
      commands.flatMap(({ name }) => (name.includes(" ") ? [name.split(" ")[0] ?? ""] : [])),
    ),
  ];

  test.each(groups)("%s lists its commands, asked in any way", async (word) => {
    const help = await strata(env, word, "--help");
    expect(help).toMatchObject({ status: 0, error: "" });
    const own = commands.filter(({ name }) => name.startsWith(`${word} `));
    for (const { name, summary } of own)
      expect(help.out).toMatch(new RegExp(`^  ${name}.*  ${escape(summary)}$`, "m"));
    expect(await strata(env, "help", word)).toEqual(help);
    expect(await strata(env, word, "-h")).toEqual(help);
  });

  test("without a usual command is listed when nothing follows", async () => {
    const { status, out } = await strata(env, "ledger");
    expect(status).toBe(2);
    expect(out).toBe((await strata(env, "ledger", "--help")).out);
    expect((await strata(env, "memory", "--help")).out).toContain(
      "strata memory alone is strata memory show.",
    );
  });
});

test("lint says each reason once per file, however many lines have it", async () => {
  mkdirSync(join(folder, "all", "deep"), { recursive: true });
  const clock = JSON.stringify({
    model: "claude-sonnet-5-5",
    max_tokens: 9,
    system: `${"x ".repeat(9000)}12:30:59`,
    messages: [{ role: "user", content: "hi" }],
  });
  const lines = ["{", ...Array.from({ length: 7 }, () => "nope"), clock, clock, '{"a":1}'];
  writeFileSync(join(folder, "all", "log.jsonl"), lines.join("\n"));
  writeFileSync(join(folder, "all", "deep", "bad.json"), "x\ny");
  symlinkSync("/nowhere", join(folder, "all", "deep", "gone.json"));
  const { out, status } = await strata(env, "lint", join(folder, "all"));
  expect(status).toBe(0);
  const skipped = out.split("\n").filter((line) => line.includes("skipped:"));
  expect(skipped.map((line) => line.replace(`${folder}/all/`, ""))).toEqual([
    expect.stringMatching(/^deep\/bad\.json {2}skipped: the request body is not JSON/),
    expect.stringMatching(/^deep\/gone\.json {2}skipped: .*cannot be read/),
    expect.stringMatching(/^log\.jsonl {2}line 1: skipped: the request body/),
    expect.stringMatching(/^log\.jsonl {2}lines 2, 3, 4, 5, 6 and 2 more: skipped/),
    expect.stringMatching(/^log\.jsonl {2}line 11: skipped: the body is not/),
  ]);
  expect(out.match(/\[clock\]/g)).toHaveLength(1);
  expect(out).toContain("lines 9, 10: ");
  expect(out).toMatch(/\[clock\], 2 times$/m);
});

describe("doctor says what is in force", () => {
  test("without a key: the simulator, and where its sessions go", async () => {
    const found = await findings();
    expect(found["keys"]).toContain("no provider has a key");
    expect(found["answers"]).toMatch(/^simulated, as claude-sonnet-5-5: .*data\/simulated\.db$/);
    expect(found["configuration"]).toMatch(/^no file, so defaults and variables hold/);
  });

  test("with a key and a file: both by name, the key never", async () => {
    mkdirSync(join(folder, "strata"));
    const file = join(folder, "strata", "strata.yaml");
    writeFileSync(file, "models: { default: opus }\n");
    env["ANTHROPIC_API_KEY"] = plantedKey;
    const found = await findings();
    expect(found["keys"]).toBe("anthropic (from environment ANTHROPIC_API_KEY)");
    expect(found["configuration"]).toContain("strata.yaml (your own");
    expect(found["answers"]).toMatch(/^opus, by its provider; sessions go to .*data\/ledger\.db$/);
    expect(JSON.stringify(found)).not.toContain(plantedKey);
  });
});

describe("short names of models", () => {
  test.each([...listShortNames()])("%s is the newest of %j, everywhere", async (name, line) => {
    const [newest = ""] = line;
    expect(findModel(name)?.facts.id).toBe(newest);
    expect((await strata(env, "models", "show", name)).out).toMatch(
      new RegExp(`^${escape(newest)}\n`),
    );
    const versions = line.map((id) => id.match(/\d+/g)?.map(Number) ?? []);
    expect(versions).toEqual(
      versions.toSorted((a, b) => (b[0] ?? 0) - (a[0] ?? 0) || (b[1] ?? 0) - (a[1] ?? 0)),
    );
    const first = findModel(newest)?.facts;
    expect(first?.lifecycle.status).toBe("active");
    const kin = builtInCatalogue.ids.filter(
      (id) =>
        id.split("-").includes(name) && builtInCatalogue.factsOf(id).lifecycle.status === "active",
    );
    for (const id of kin.filter((each) => name !== "gpt" || each.endsWith("-sol")))
      expect(line).toContain(id);
  });

  test("chat, lint, stats and the route of a vendor take them", async () => {
    const chat = await strata(env, "chat", "-p", "hi", "--model", "haiku", "--json");
    expect(
      JSON.parse(chat.out.split("\n").find((line) => line.includes('"session"')) ?? ""),
    ).toMatchObject({ model: "claude-haiku-5-5" });
    expect(findModel("openrouter/opus")?.facts).toMatchObject({
      id: "claude-opus-5-5",
      route: "openrouter",
    });
    expect(findModel("ollama/haiku")?.matched).toBe("any name");
  });
});

test("text and tables keep whole words in a narrow window", () => {
  const facts = renderFacts([["read", "1,234 tokens, 45.0 % of what was sent in all"]], 33);
  expect(facts).toBe("read  1,234 tokens, 45.0 % of\n      what was sent in all\n");
  const columns = [
    { title: "model", cell: (row: string[]) => row[0] ?? "" },
    { title: "why", cell: (row: string[]) => row[1] ?? "" },
    { title: "cost", align: "right" as const, cell: (row: string[]) => row[2] ?? "" },
  ];
  const rows = [["claude-sonnet-5-5", "the system text has changed", "$1,402.38"]];
  expect(renderTable(columns, rows, 44)).toBe(
    "model              why                  cost\nclaude-sonnet-5-5  the system      $1,402.38\n                   text has\n                   changed\n",
  );
  expect(renderTable(columns, rows, 30)).toBe(
    "model  claude-sonnet-5-5\nwhy\n    the system text has\n    changed\ncost   $1,402.38\n",
  );
  expect(
    renderGroup(
      "ledger",
      commands.filter(({ name }) => name.startsWith("ledger ")),
    ),
  ).toContain("strata ledger COMMAND --help");
});

test("30 MB on standard input are refused before anything is sent", () => {
  const { status, out, error } = runProgram(
    join(folder, "ledger.db"),
    "bash",
    [
      "-c",
      `head -c 30000000 /dev/zero | tr '\\0' a | "${process.execPath}" src/cli/main.ts chat -p "Review this"`,
    ],
    { env: { ...env, ANTHROPIC_API_KEY: "", OPENAI_API_KEY: "" } },
  );
  expect({ status, out }).toEqual({ status: 6, out: "" });
  expect(error).toMatch(
    /^strata: standard input has more than 16\.0 MB; nothing was sent\n {2}save it as a file .*\n$/,
  );
});

test("a prompt that no window holds is refused by its size", async () => {
  const { status, error } = await strata(
    env,
    "chat",
    "-p",
    "word ".repeat(1_700_000),
    "--model",
    "haiku",
  );
  expect(status).toBe(6);
  expect(error).toContain("and claude-haiku-5-5 takes 1,000,000; nothing was sent");
});

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

async function findings(): Promise<Record<string, string>> {
  const { out } = await strata(env, "doctor", "--json");
  const { findings: found }: { findings: { name: string; detail: string }[] } = JSON.parse(out);
  return Object.fromEntries(found.map(({ name, detail }) => [name, detail]));
}
