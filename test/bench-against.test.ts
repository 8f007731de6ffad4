// Goal: `bench NAME --against DIR` tells which of two checkouts takes more CPU time. Method: ratios of figures written
// out, and a run of two checkouts that have nothing but the harness and one small bench.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { MeasuredReport } from "../harness/run-measured.ts";
import { toComparison, toLines, type Comparison, type Run } from "../harness/comparison.ts";

describe("what is told of the rounds", () => {
  test("a median is the check, and one slow round does not decide", () => {
    const rounds = [128, 130, 132, 134, 136, 138, 1280].map((cpuMs) =>
      toRound({ cpuMs }, { cpuMs: 128 }),
    );
    const { checks, ratios } = toComparison(rounds);
    expect(checks).toEqual([
      { name: "median CPU ratio", value: 1.046875, limit: "<= 1.05", ok: true },
    ]);
    expect(ratios["CPU"]).toEqual({
      median: 1.046875,
      min: 1,
      lowerQuartile: 1.0234375,
      upperQuartile: 1.0703125,
      max: 10,
    });
  });

  test("a bench says how much slower it may be", () => {
    const rounds = [toRound({ cpuMs: 110 })];
    expect(toComparison(rounds).checks[0]).toMatchObject({ limit: "<= 1.05", ok: false });
    expect(toComparison(rounds, 1.15).checks[0]).toMatchObject({ limit: "<= 1.15", ok: true });
  });

  test("every time that both give has a ratio, above 1 where ours is slower", () => {
    const ours = { "call, ms p50": 3, "turns/s": 50, dollars: 9, "new ms": 1, note: "ms" };
    const theirs = { "call, ms p50": 2, "turns/s": 100, dollars: 3, "lint, ms per MB": null };
    const round = toRound({ figures: ours }, { figures: theirs });
    const { ratios, figures } = toComparison([round, round]);
    expect(Object.entries(ratios).map(([name, spread]) => [name, spread.median])).toEqual([
      ["CPU", 1],
      ["wall", 1],
      ["call, ms p50", 1.5],
      ["turns/s", 2],
    ]);
    expect(figures["times not in every run"]).toBe("new ms; lint, ms per MB");
  });

  test("checks of the bench that failed are named, with how often", () => {
    const rounds = [
      toRound({ failedChecks: ["growth", "append"] }),
      toRound({ failedChecks: ["growth"] }),
    ];
    expect(toComparison(rounds).figures).toMatchObject({
      "failed checks, ours": "growth (2 of 2 runs); append (1 of 2 runs)",
      "failed checks, theirs": "none",
    });
  });

  test("people read the spread and each round", () => {
    const rounds = [toRound({ cpuMs: 120, wallMs: 60 }, { wallMs: 48 })];
    expect(toLines({ against: "/before", ...toComparison(rounds) })).toEqual([
      "ours is this checkout, theirs is /before",
      "ours / theirs, above 1 is slower: median (min, quartiles, max)",
      "  CPU: 1.200 (1.200, 1.200, 1.200, 1.200)",
      "  wall: 1.250 (1.250, 1.250, 1.250, 1.250)",
      "rounds, ours / theirs in ms",
      "  1, ours first: CPU 120 / 100 = 1.200, wall 60 / 48 = 1.250",
    ]);
  });
});

describe("two checkouts", () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "strata-against-"));
    // Ours works in another thread, which counts as well.
    createCheckout(
      "ours",
      'await once(new Worker("while (process.cpuUsage().user < 2e5);", { eval: true }), "exit")',
    );
    createCheckout("theirs", "");
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test("take turns, and the slower one fails the check", () => {
    const { stdout, status } = bench("--against", "../theirs", "--size", "5", "--json");
    const { checks, rounds, ratios, ...report } = JSON.parse(stdout) as Comparison;
    expect(status).toBe(1);
    expect(checks).toEqual([
      { name: "median CPU ratio", value: expect.any(Number), limit: "<= 1.2", ok: false },
    ]);
    expect(rounds.map(({ first }) => first).join(" ")).toBe(
      "ours theirs ours theirs ours theirs ours",
    );
    expect(rounds[6]?.theirs.figures).toEqual({ size: "5", "work ms": 2 });
    expect(ratios["work ms"]?.median).toBe(1);
    expect(report).toMatchObject({
      name: "small",
      against: join(folder, "theirs"),
      figures: { rounds: 7, "failed checks, theirs": "always (7 of 7 runs)" },
    });
  });

  test("of a bench that measures a part, what comes before that part does not count", () => {
    const wait = "for (const end = performance.now() + 100; performance.now() < end;)";
    createCheckout("part", `globalThis.runs = (globalThis.runs ?? 0) + 1; ${wait}; progress("go")`);
    const { figures, cpuMs } = JSON.parse(measure("go").stdout) as MeasuredReport;
    expect(figures["runs"]).toBe(3);
    expect(cpuMs).toBeGreaterThan(0);
    expect(cpuMs).toBeLessThan(100);
    expect(measure("stop").stderr).toContain('bench small does not say "stop"');
  });

  test("a limit is a number", () => {
    const { stderr, status } = bench("--against", "../theirs", "--limit", "none");
    expect(stderr).toBe('--limit must be a number above 0, not "none"\n');
    expect(status).toBe(2);
  });

  test.each([
    ["nowhere", "there is no such folder. Make it: git worktree add"],
    ["empty", "this is not a checkout of Strata. Make one: git worktree add"],
    ["bare", "there is no node_modules. Run npm ci there, or: ln -s"],
    ["older", "it has no bench called small. Take a commit that has it"],
  ])("one that is %s is refused with what to do", (name, message) => {
    if (name !== "nowhere") mkdirSync(join(folder, name));
    if (name === "bare" || name === "older") createCheckout(name, "");
    if (name === "bare") rmSync(join(folder, name, "node_modules"), { recursive: true });
    if (name === "older") rmSync(join(folder, name, "bench/small.ts"));
    const { stderr, status } = bench("--against", `../${name}`);
    expect(stderr).toContain(`--against ../${name}: ${message}`);
    expect(status).toBe(2);
  });

  test("one whose bench cannot run is named, with what the bench said", () => {
    createCheckout("broken", 'throw new Error("no such table")');
    const { stderr, status } = bench("--against", "../broken");
    expect(stderr).toContain(`bench small --json gave no report in ${join(folder, "broken")}:`);
    expect(stderr).toContain("no such table");
    expect(status).toBe(2);
  });

  test("seven rounds are the fewest", () => {
    const { stderr, status } = bench("--against", "../theirs", "--rounds", "6");
    expect(stderr).toBe('--rounds must be a whole number from 7, not "6"\n');
    expect(status).toBe(2);
  });

  function createCheckout(name: string, work: string): void {
    const at = join(folder, name);
    for (const part of ["bench", "harness", "node_modules"])
      mkdirSync(join(at, part), { recursive: true });
    for (const file of [
      "run",
      "report",
      "measure",
      "against",
      "comparison",
      "report-cpu",
      "run-measured",
      "traces",
    ])
      cpSync(`harness/${file}.ts`, join(at, `harness/${file}.ts`));
    writeFileSync(join(at, "package.json"), '{ "type": "module" }');
    writeFileSync(
      join(at, "bench/small.ts"),
      `import { once } from "node:events";
import { Worker } from "node:worker_threads";
export const experiment = {
  summary: "small",
  options: { size: "how large" },
  cpuRatioMax: 1.2,
  async run({ options, progress }) {
    ${work};
    const check = { name: "always", value: 1, limit: "= 0", ok: false };
    const { runs } = globalThis;
    return { figures: { size: options.size, "work ms": 2, runs }, checks: [check] };
  },
};
`,
    );
  }

  function measure(from: string) {
    const task = JSON.stringify({ bench: "small", from, runs: 3, options: {} });
    const args = ["harness/run-measured.ts", join(folder, "part"), task];
    return spawnSync(process.execPath, args, { cwd: join(folder, "ours"), encoding: "utf8" });
  }

  function bench(...args: string[]) {
    return spawnSync(process.execPath, ["harness/run.ts", "bench", "small", ...args], {
      cwd: join(folder, "ours"),
      encoding: "utf8",
    });
  }
});

function toRound(ours: Partial<Run>, theirs: Partial<Run> = {}): Comparison["rounds"][number] {
  const run: Run = { cpuMs: 100, wallMs: 50, figures: {}, failedChecks: [] };
  return { first: "ours", ours: { ...run, ...ours }, theirs: { ...run, ...theirs } };
}
