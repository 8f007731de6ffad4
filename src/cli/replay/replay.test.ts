import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { runCli } from "../run-cli.ts";
import { createTestIo } from "../test-kit.ts";

const folder = mkdtempSync(join(tmpdir(), "strata-replay-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function strata(
  ...words: readonly string[]
): Promise<{ status: number; out: string; err: string }> {
  const { io, said } = createTestIo();
  const status = await runCli(words, io);
  return { status, out: said.out, err: said.error };
}

function kvRequest(t: number, keep: number, first: number, count: number): string {
  return JSON.stringify({
    kind: "request",
    agent: null,
    t,
    model: "claude-sonnet-4-6",
    in: (keep + count) * 64 + 10,
    out: 5,
    keep,
    append: [[first, count]],
  });
}

function kvTrace(): string {
  return [
    JSON.stringify({
      kind: "kvtrace",
      format: "ctx-kv/1",
      id: "t",
      block_size: 64,
      tool_tokens: 640,
      system_tokens: 640,
    }),
    kvRequest(0, 0, 1, 100),
    kvRequest(60, 100, 101, 10),
    kvRequest(1260, 110, 111, 10),
    '{"kind":"request","agent":null,"t":12',
  ].join("\n");
}

test("a folder with nested, empty and half-written files is priced, and what was skipped is named", async () => {
  mkdirSync(join(folder, "a", "b"), { recursive: true });
  writeFileSync(join(folder, "a", "b", "trace.jsonl"), kvTrace());
  writeFileSync(join(folder, "a", "empty.jsonl"), "");
  writeFileSync(join(folder, "a", "notes.txt"), "not a recording");
  const { status, out } = await strata(
    "replay",
    folder,
    "--policy",
    "adaptive,tail-5m,none",
    "--json",
  );
  expect(status).toBe(0);
  const report = JSON.parse(out) as {
    sessions: number;
    requests: number;
    policies: { policy: string; ratioToLimit: number }[];
    skippedWhere: { file: string; line: number | null }[];
  };
  expect([report.sessions, report.requests]).toEqual([1, 3]);
  expect(report.policies.map(({ policy }) => policy)).toEqual(["adaptive", "tail-5m", "none"]);
  expect(report.policies.every(({ ratioToLimit }) => ratioToLimit >= 1)).toBe(true);
  expect(new Set(report.skippedWhere.map(({ line }) => line))).toEqual(new Set([5, null]));
});

test("the table names policies, the limit and what the pause cost; the page is written", async () => {
  const page = join(folder, "page.html");
  const { status, out } = await strata(
    "replay",
    join(folder, "a", "b"),
    "--policy",
    "tail-5m,tail-1h",
    "--html",
    page,
  );
  expect(status).toBe(0);
  expect(out).toMatch(
    /^No bill is recorded\. These prompts would have cost \$0\.05\d+ under tail-1h/,
  );
  expect(out).toContain("1 file, all under every policy\n3 requests, all under every policy\n");
  expect(out).toMatch(/tail-1h +\$\d/);
  expect(out).toMatch(/limit +\$\d/);
  expect(readFileSync(page, "utf8")).toContain("Content-Security-Policy");
});

test("a log of Gemini, which takes no markers, is priced without an empty table of policies", async () => {
  const log = join(folder, "gemini-log.jsonl");
  const path = "/v1beta/models/gemini-3.8-flash:generateContent";
  const request = { contents: [{ role: "user", parts: [{ text: "Hi. ".repeat(9000) }] }] };
  const lines = ["2026-11-18T21:00:00Z", "2026-11-18T21:01:00Z"].map((timestamp) =>
    JSON.stringify({ path, timestamp, request }),
  );
  writeFileSync(log, lines.join("\n"));
  const { status, out } = await strata("replay", log, "--policy", "adaptive,none");
  expect(status).toBe(0);
  expect(out).toContain("providers that take no markers: 1 session, 2 requests\n");
  expect(out).toMatch(
    /^by their documents +2 +\$0\.0187 +1\.000 +0\.5500 +50\.0 % +22\.7k +22\.7k$/m,
  );
  expect(out).toMatch(/^no caching +2 +\$0\.0340 +1\.818 +1\.0000 +0\.0 % +0 +45\.4k$/m);
  expect(out).not.toContain("adaptive");
});

function spokenRequest(t: string, keep: number): unknown {
  const text = `quokka ${"go on ".repeat(2000)}`;
  return {
    kind: "request",
    t,
    t_end: t,
    model: "claude-sonnet-4-6",
    keep,
    append: [{ role: "user", content: [{ type: "text", text }] }],
    n_messages: keep + 1,
  };
}

/** Two calls, twenty minutes apart, with a word that nobody else uses. */
function spokenTrace(): string {
  const wire = "anthropic-messages";
  const lines = [
    { kind: "session", format: "ctx-trace/1", id: "spoken", wire, prefix_known: true },
    spokenRequest("2026-11-15T12:00:00Z", 0),
    spokenRequest("2026-11-15T12:20:00Z", 1),
  ];
  return lines.map((line) => JSON.stringify(line)).join("\n");
}

test("what was said is in the page with --excerpts, and nowhere without it", async () => {
  const [spoken, page] = [join(folder, "spoken"), join(folder, "excerpts.html")];
  mkdirSync(spoken);
  writeFileSync(join(spoken, "trace.jsonl"), spokenTrace());
  const replay = ["replay", spoken, "--policy", "tail-5m", "--html", page];
  const quiet = await strata(...replay);
  expect(quiet.out).toContain("lifetime expired");
  const json = await strata(...replay, "--json");
  expect(`${quiet.out}${json.out}${readFileSync(page, "utf8")}`).not.toMatch(/quokka|go on/);
  const shown = await strata(...replay, "--excerpts");
  expect(shown.out).toContain(`page: ${page}, with excerpts of what was said\n`);
  expect(shown.out).not.toContain("quokka");
  expect(readFileSync(page, "utf8")).toContain('"excerpt":"quokka go on go on');
  expect((await strata(...replay, "--excerpts", "--json")).out).not.toContain("quokka");
});

test("a page that cannot be written is refused before any file is read, and names of folders are not in it", async () => {
  const nowhere = join(folder, "no such folder", "page.html");
  const refused = await strata("replay", join(folder, "a"), "--html", nowhere);
  expect([refused.status, refused.out]).toEqual([6, ""]);
  expect(refused.err).toContain("the page cannot be written to");
  const page = join(folder, "named.html");
  await strata("replay", join(folder, "a", "b"), "--policy", "tail-5m", "--html", page);
  expect(readFileSync(page, "utf8")).not.toContain(folder);
});

test("excerpts without a page are an error that says what to do", async () => {
  for (const more of [[], ["--json"]]) {
    const { status, out, err } = await strata("replay", folder, "--excerpts", ...more);
    expect([status, out]).toEqual([2, ""]);
    expect(err).toBe(
      "strata: --excerpts is for the page, and there is no --html\n" +
        "  add --html FILE, or see them as text: strata explain PATH --excerpts\n",
    );
  }
});

test("the JSON is the same on two threads, and a wrong number of threads is an error", async () => {
  const [one, two] = [
    await strata("replay", folder, "--json", "--jobs", "1"),
    await strata("replay", folder, "--json", "--jobs", "2"),
  ];
  expect([one.status, two.status]).toEqual([0, 0]);
  expect(two.out).toBe(one.out);
  for (const jobs of ["0", "65", "two", "1.5"]) {
    const { status, err } = await strata("replay", folder, "--jobs", jobs);
    expect(status).toBe(2);
    expect(err).toBe(`strata: --jobs cannot be "${jobs}"\n  give a whole number from 1 to 64\n`);
  }
});

test("a terminal shows files and requests while they are priced, and nothing of it is left", async () => {
  const { isTTY } = process.stderr;
  process.stderr.isTTY = true;
  const { status, out, err } = await strata("replay", join(folder, "a"), "--json");
  process.stderr.isTTY = isTTY;
  expect(status).toBe(0);
  expect(() => JSON.parse(out) as unknown).not.toThrow();
  expect(err).toMatch(/^\r[█░]{30} \d+ % \d of 2 files, \d requests?/);
  expect(err).toMatch(/\r +\r$/);
});

test("nothing to read, an unknown policy and an unknown grouping are errors that say what to do", async () => {
  const empty = join(folder, "nothing");
  mkdirSync(empty);
  const nothing = await strata("replay", empty);
  expect([nothing.status, nothing.out]).toEqual([7, ""]);
  expect(nothing.err).toContain("no request could be read from");
  const policy = await strata("replay", folder, "--policy", "adaptiv");
  expect(policy.err).toBe('strata: there is no policy "adaptiv"\n  did you mean adaptive?\n');
  const group = await strata("replay", folder, "--group-by", "sesion");
  expect(group.err).toContain('--group-by cannot be "sesion"\n  did you mean session');
  expect((await strata("replay")).status).toBe(2);
});

function bill(read: number, written: number): object {
  return {
    input_tokens: 3,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
    output_tokens: 1,
  };
}

test("recorded and simulated reads are shown per session, with what the recording does not show", async () => {
  const lines = [
    { kind: "session", format: "ctx-trace/1", id: "t1", agent: "a", wire: "anthropic-messages" },
    ...[bill(0, 10_000), bill(10_000, 5200), bill(15_200, 20)].map((usage, index) => ({
      kind: "request",
      t: `2026-11-15T12:0${index}:00Z`,
      model: "claude-sonnet-4-6",
      keep: index,
      append: [{ role: "user", content: `message ${index}` }],
      usage,
    })),
  ];
  const file = join(folder, "billed.jsonl");
  writeFileSync(file, lines.map((line) => JSON.stringify(line)).join("\n"));
  const text = await strata("replay", file, "--policy", "none");
  expect(text.out).toContain(
    "recorded reads: the simulator differs by 0.02 % in the median of 1 session",
  );
  expect(text.out).toContain("hidden growth at request 2: 5.2k tokens (t1)");
  const json = await strata("replay", file, "--policy", "none", "--json");
  const { recordedReads } = JSON.parse(json.out) as { recordedReads: unknown };
  expect(recordedReads).toMatchObject([
    {
      session: "t1",
      requests: 2,
      recordedReadTokens: 25_200,
      simulatedReadTokens: 25_206,
      hidden: [{ request: 1 }, { request: 2, thread: "", tokens: 5197 }],
    },
  ]);
});

test("the first line of billed sessions says what was paid; files and requests add up", async () => {
  const file = join(folder, "billed.jsonl");
  const { out } = await strata("replay", file, "--policy", "adaptive,tail-5m,none");
  expect(out).toMatch(
    /^You paid \$0\.0\d+ \(\$0\.0\d+ for input, \$0\.0000 for output\)\.\nThe same sessions [^\n]+\.\n/,
  );
  expect(out).toMatch(/^against the bills +with the recorded breaks +as the file shows$/m);
  expect(out).toMatch(/^recorded +\$0\.0\d+ +-$/m);
  expect(out).toContain("1 file, all under every policy\n3 requests, all under every policy\n");
  const all = await strata("replay", folder, "--policy", "none");
  expect(all.out).toMatch(
    /^\d+ files = \d+ under every policy \+ 1 of providers that take no markers \+ \d+ not used$/m,
  );
  expect(all.out).toContain("  not used: 1 file: it is empty\n");
});

test("a page that cannot be written is an error before anything is read", async () => {
  const nowhere = join(folder, "missing", "page.html");
  const { status, out, err } = await strata("replay", folder, "--html", nowhere);
  expect([status, out]).toEqual([6, ""]);
  expect(err).toMatch(
    /^strata: the page cannot be written to .*page\.html: ENOENT.*\n {2}name a file in a folder/,
  );
});

test("a run that finds nothing leaves no page behind, and one whose page fails at the end shows its result", async () => {
  const page = join(folder, "left.html");
  expect((await strata("replay", join(folder, "a", "empty.jsonl"), "--html", page)).status).toBe(7);
  expect(existsSync(page)).toBe(false);
  if (!existsSync("/dev/full")) return;
  const full = await strata(
    "replay",
    join(folder, "a", "b"),
    "--policy",
    "none",
    "--html",
    "/dev/full",
  );
  expect([full.status, full.out.includes("3 requests, all under every policy")]).toEqual([6, true]);
  expect(full.err).toContain("the page cannot be written to /dev/full");
});
