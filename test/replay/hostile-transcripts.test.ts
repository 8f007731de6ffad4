// Goal: no file that someone hands us as a transcript crashes or hangs replay and explain; what cannot be used is
// named with file and line. Method: each hostile file between good lines, through the readers and through the command.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { createTestIo } from "../../src/cli/test-kit.ts";
import { runCli } from "../../src/cli/run-cli.ts";
import { findPolicy } from "../../src/core/cache/policies.ts";
import { explainRecordings } from "../../src/replay/explain/explain-recording.ts";
import { builtInCatalogue } from "../../src/core/models/catalogue.ts";
import { renderFile } from "../../src/dashboard/file/render-file.ts";
import { toReplayed } from "../../src/dashboard/file/to-replayed.ts";
import type { CallDetail } from "../../src/replay/call-detail.ts";
import { readRecordings } from "../../src/replay/readers/read-recordings.ts";
import { replay } from "../../src/replay/replay.ts";

const folder = mkdtempSync(join(tmpdir(), "strata-hostile-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const counter = { count: (text: string): number => Math.ceil(text.length / 4) };

const at = (second: number): string => new Date(Date.UTC(2026, 1, 1, 10, 0, second)).toISOString();

/** Lines of a Claude Code session: `user` or `assistant`, its id, its parent, its second, its content. */
function line(
  type: "user" | "assistant",
  uuid: string,
  parentUuid: string | null,
  second: number,
  content: unknown,
  usage: object = { input_tokens: 10, cache_read_input_tokens: 990, output_tokens: 1 },
): string {
  const reply = type === "user" ? {} : { id: `m-${uuid}`, model: "claude-opus-4-6", usage };
  const message = { role: type, content, ...reply };
  const place = { uuid, parentUuid, sessionId: "s", timestamp: at(second), isSidechain: false };
  return JSON.stringify({ ...place, type, message });
}

const good = [
  line("user", "u1", null, 1, "Hello"),
  line("assistant", "a1", "u1", 2, [{ type: "text", text: "Hi" }]),
];
const more = [
  line("user", "u2", "a1", 3, "More"),
  line("assistant", "a2", "u2", 4, [{ type: "text", text: "Yes" }]),
];

function trace(changes: object, count = 2): string[] {
  const request = (keep: number): object => ({
    kind: "request",
    t: at(keep),
    model: "claude-opus-4-6",
    keep,
    append: [{ role: "user", content: `message ${keep}` }],
    usage: { input_tokens: 1000, output_tokens: 1 },
    ...changes,
  });
  const header = { kind: "session", format: "ctx-trace/1", id: "t", wire: "anthropic-messages" };
  return [header, ...Array.from({ length: count }, (_, keep) => request(keep))].map((each) =>
    JSON.stringify(each),
  );
}

const levels = (count: number): string => "[".repeat(count) + "]".repeat(count);

interface Outcome {
  readonly requests: number;
  readonly explained: number;
  readonly skipped: readonly string[];
}

let files = 0;

/** Everything that is done with a file: replayed, drawn, explained. */
async function tryFile(content: string | Buffer): Promise<Outcome> {
  files += 1;
  const file = join(folder, `file-${files}.jsonl`);
  writeFileSync(file, content);
  const details: CallDetail[] = [];
  const report = await replay(readRecordings([file], { counter, excerpts: true }), {
    policies: [findPolicy("adaptive"), findPolicy("tail-1h")],
    model: null,
    groupBy: "session",
    onCall: (call) => details.push(call),
  });
  expect(report.policies.every(({ costUsd }) => Number.isFinite(costUsd))).toBe(true);
  const data = toReplayed(report, details, { catalogue: builtInCatalogue, excerpts: true });
  expect(await renderFile("a replay", data)).toContain("</html>");
  let explained = 0;
  for await (const _ of explainRecordings(readRecordings([file], { counter, excerpts: true }))) {
    explained += 1;
  }
  rmSync(file);
  const skipped = report.skippedWhere.map((each) => `${each.line ?? "file"}: ${each.reason}`);
  return { requests: report.requests, explained, skipped };
}

describe("lines that are no lines", () => {
  test("broken JSON, other values, invalid bytes and a cut-off end are skipped one by one", async () => {
    const lines = [...good, "{", '"text"', "[1,2]", "\u0000\u0001", ...more, '{"uuid":"u3",'];
    expect(await tryFile(lines.join("\n"))).toEqual({
      requests: 2,
      explained: 2,
      skipped: [
        "3: it is not JSON",
        "4: it is not a JSON object",
        "5: it is not a JSON object",
        "6: it is not JSON",
        "9: it is cut off",
      ],
    });
  });

  test("a line of 70 MB is passed over without holding it", async () => {
    const long = Buffer.alloc(70_000_000, "x");
    const lines = [`${good.join("\n")}\n{"a":"`, long, `"}\n${more.join("\n")}\n`];
    const { requests, skipped } = await tryFile(
      Buffer.concat(lines.map((each) => Buffer.from(each))),
    );
    expect({ requests, skipped }).toEqual({
      requests: 2,
      skipped: ["3: it is longer than 64 MB"],
    });
  });

  test("deep nesting is refused before it is parsed or walked", async () => {
    const parsed = `{"type":"progress","data":${levels(1_000_000)}}`;
    const walked = more[0]?.replace('"More"', levels(2000)) ?? "";
    const { requests, skipped } = await tryFile([...good, parsed, walked, more[1]].join("\n"));
    expect(requests).toBe(2);
    expect(skipped.slice(0, 2)).toEqual([
      "3: it is nested deeper than 500 levels",
      "4: it cannot be understood: the JSON is nested deeper than 500 levels",
    ]);
  });

  test("a file that turns into garbage is not read to its end", async () => {
    const { requests, skipped } = await tryFile(`${good.join("\n")}\n${"x\n".repeat(100_000)}`);
    expect(requests).toBe(1);
    expect(skipped).toHaveLength(1000);
    const empty = await tryFile(`${good.join("\n")}\n${"\n".repeat(2_000_000)}`);
    expect(empty).toEqual({ requests: 1, explained: 1, skipped: [] });
  });

  test("binary files are of no known format", async () => {
    const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, index) => (index * 7919) % 256));
    expect((await tryFile(bytes)).skipped).toEqual(["file: it is of no known format"]);
    expect((await tryFile(Buffer.alloc(100_000))).skipped).toEqual([
      "file: it is of no known format",
    ]);
  });
});

describe("figures that cannot be true", () => {
  test.each([
    ["10^12 tokens", { input_tokens: 1e12 }, "its usage of 1000000000001 tokens cannot be true"],
    [
      "the largest numbers",
      { input_tokens: Number.MAX_SAFE_INTEGER, cache_read_input_tokens: Number.MAX_SAFE_INTEGER },
      "its usage of 18014398509481984 tokens cannot be true",
    ],
  ])("%s: the request stays, its usage is refused and reported", async (_, counts, reason) => {
    const usage = { ...counts, output_tokens: 1 };
    const reply = line("assistant", "a1", "u1", 2, [{ type: "text", text: "Hi" }], usage);
    const outcome = await tryFile([good[0], reply, ...more].join("\n"));
    // A reply is complete when the next line is not part of it.
    expect(outcome).toEqual({ requests: 2, explained: 1, skipped: [`4: ${reason}`] });
    const traced = await tryFile(trace({ usage }).join("\n"));
    expect(traced).toEqual({
      requests: 2,
      explained: 0,
      skipped: [`2: ${reason}`, `3: ${reason}`],
    });
  });

  test("negative and broken counts are no usage", async () => {
    for (const count of [-5, 1.5, "many", null, {}]) {
      const outcome = await tryFile(trace({ usage: { input_tokens: count } }).join("\n"));
      expect(outcome).toEqual({ requests: 2, explained: 0, skipped: [] });
    }
  });

  test("sizes that a few bytes ask for are refused", async () => {
    const sealed = { type: "thinking", thinking: "", sig_chars: 1e12 };
    const image = { type: "image", w: 1e12, h: 1e12 };
    for (const block of [sealed, image]) {
      const { requests, skipped } = await tryFile(
        trace({ append: [{ role: "assistant", content: [block] }] }, 1).join("\n"),
      );
      expect(requests).toBe(0);
      expect(skipped[0]).toMatch(/^2: .*(more than a session can have|cannot be true)$/);
    }
    const pieces = JSON.stringify({ kind: "request", t: 0, in: 5, keep: 0, append: [[1, 1e7]] });
    const kv = await tryFile(`{"kind":"kvtrace","format":"ctx-kv/1","id":"k"}\n${pieces}`);
    expect(kv.skipped[0]).toBe("2: it is not a request of this format");
  });

  test("times outside any calendar are refused, and times that go back keep their order", async () => {
    const far = await tryFile(trace({ t: "+275760-09-13T00:00:00.000Z" }).join("\n"));
    expect(far.skipped).toEqual(["2: its time cannot be true", "3: its time cannot be true"]);
    const back = [
      line("user", "u1", null, 50, "a"),
      line("assistant", "a1", "u1", 40, [{ type: "text", text: "b" }]),
      line("user", "u2", "a1", 30, "c"),
      line("assistant", "a2", "u2", 1, [{ type: "text", text: "d" }]),
    ];
    expect(await tryFile(back.join("\n"))).toEqual({ requests: 2, explained: 2, skipped: [] });
  });
});

describe("names and parents", () => {
  test("lone surrogates and names of the language's own objects are data", async () => {
    const lines = [
      line("user", "__proto__", "constructor", 1, "\ud800 alone \udfff"),
      line("assistant", "toString", "__proto__", 2, [{ type: "text", text: "\udc00" }]),
      `{"__proto__":{"uuid":"x"},"constructor":{"prototype":{"polluted":1}},"uuid":"y","parentUuid":null}`,
    ];
    const { requests } = await tryFile(lines.join("\n"));
    expect(requests).toBe(1);
    expect("polluted" in {}).toBe(false);
  });

  test("parents in a circle, missing parents and repeated ids end", async () => {
    const lines = [
      line("user", "u1", "u2", 1, "a"),
      line("user", "u2", "u1", 2, "b"),
      line("assistant", "a1", "a1", 3, [{ type: "text", text: "self" }]),
      line("assistant", "a1", "u2", 3, [{ type: "text", text: "again" }]),
      line("assistant", "a2", "u1", 5, [{ type: "text", text: "c" }]),
    ];
    const { requests, skipped } = await tryFile(lines.join("\n"));
    expect(requests).toBe(2);
    expect(skipped).toEqual([
      "1: the line it follows is missing; from here on such lines follow the one before",
      "file: 1 of its lines repeat earlier ones",
    ]);
    const pi = [
      { type: "session", id: "p", version: 3 },
      { type: "message", id: "1", parentId: "2", message: { role: "user", content: "x" } },
      { type: "compaction", id: "2", parentId: "2", firstKeptEntryId: "2" },
      { type: "message", id: "3", parentId: "3", message: { role: "assistant", usage: {} } },
    ];
    await tryFile(pi.map((each) => JSON.stringify(each)).join("\n"));
  });
});

/** A name, because knip looks for the binary. */
const makePipe = "mkfifo";

describe("paths that are no files", () => {
  test("a pipe, a device, a folder, a broken link and links in a circle end with a code and a hint", async () => {
    const paths = {
      pipe: join(folder, "pipe.jsonl"),
      folder: join(folder, "folder.jsonl"),
      broken: join(folder, "broken.jsonl"),
      circle: join(folder, "circle.jsonl"),
    };
    expect(spawnSync(makePipe, [paths.pipe]).status).toBe(0);
    mkdirSync(paths.folder);
    symlinkSync(join(folder, "nowhere"), paths.broken);
    symlinkSync(paths.circle, paths.circle);
    for (const path of [...Object.values(paths), "/dev/zero", "no\u0000name"]) {
      for (const command of ["replay", "explain"]) {
        const { io, said } = createTestIo();
        const status = await runCli([command, path, "--json"], io);
        expect({ command, path, status: status > 0 }).toEqual({ command, path, status: true });
        expect(said.error).toMatch(/\n.*(hint|give|try|did you|check)/i);
        expect(said.error).not.toMatch(/\n\s+at /);
      }
    }
  });
});
