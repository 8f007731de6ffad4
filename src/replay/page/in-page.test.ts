import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  drawCrossSection,
  escapeHtml,
  formatDuration,
  formatTokens,
  listMisses,
  summariseSession,
  toSegments,
} from "./in-page.ts";
import { toPageData, type PageData } from "./page-data.ts";
import { makeCall, makeMissing, makeReport } from "./test-kit.ts";

const startMs = 1_800_000_000_000;

describe("the segments of a call", () => {
  test("are read, then written, then fresh, cut where a tier ends", () => {
    expect(segments(dataOf([makeCall()]), 1)).toEqual([
      { band: "tools", state: "read", tokens: 100 },
      { band: "system", state: "read", tokens: 200 },
      { band: "history", state: "read", tokens: 100 },
      { band: "history", state: "written", tokens: 350 },
      { band: "history", state: "fresh", tokens: 250 },
    ]);
  });

  test("are all fresh under a policy that caches nothing", () => {
    expect(segments(dataOf([makeCall()]), 0)).toEqual([
      { band: "tools", state: "fresh", tokens: 100 },
      { band: "system", state: "fresh", tokens: 200 },
      { band: "history", state: "fresh", tokens: 700 },
    ]);
  });

  test("hold every token of the prompt, whatever was read and written", () => {
    const tokens = fc.nat({ max: 200_000 });
    fc.assert(
      fc.property(tokens, tokens, tokens, tokens, tokens, (T0, T1, T3, read, written) => {
        const session = {
          id: "",
          file: "",
          callCount: 1,
          gapsMs: [0],
          models: [0],
          threads: [""],
          threadOf: [0],
          bands: [[T0], [T1], [T3], [0]],
          outcomes: [{ read: [read], written: [written], misses: [] }],
        };
        const made = toSegments(session, 0, 0);
        const sum = (state: string): number =>
          made.filter((each) => each.state === state).reduce((all, each) => all + each.tokens, 0);
        const prompt = T0 + T1 + T3;
        expect(sum("read")).toBe(Math.min(read, prompt));
        expect(sum("written")).toBe(Math.min(written, prompt - sum("read")));
        expect(sum("read") + sum("written") + sum("fresh")).toBe(prompt);
      }),
    );
  });
});

describe("the cross-section", () => {
  const half = makeCall({
    startMs: startMs + 300_000,
    tierTokens: { T0: 500, T1: 0, T2: 0, T3: 0 },
    outcomes: [],
  });

  test("draws a column as high as its prompt, from the bottom up", () => {
    const svg = drawCrossSection(dataOf([makeCall(), half]), 0, 1);
    expect(rectsOf(svg)).toEqual([
      'class="tools read" x="52" y="224.00" width="27" height="24.00"',
      'class="system read" x="52" y="176.00" width="27" height="48.00"',
      'class="history read" x="52" y="152.00" width="27" height="24.00"',
      'class="history written" x="52" y="68.00" width="27" height="84.00"',
      'class="history fresh" x="52" y="8.00" width="27" height="60.00"',
      'class="tools fresh" x="80" y="128.00" width="27" height="120.00"',
    ]);
  });

  test("marks a miss with a line and its cause", () => {
    const data = dataOf([makeCall(), half]);
    const svg = drawCrossSection(data, 0, 1);
    expect(svg.match(/class="miss"/g)).toHaveLength(1);
    expect(svg).toContain(
      "<title>call 1 after 0 s, model-a\n" +
        "1.0k tokens: tools 100, system 200, history 700, in no tier 0\n" +
        "read 400, written 350, fresh 250\n" +
        "missed 321: lifetime expired</title>",
    );
    expect(drawCrossSection(data, 0, 0)).not.toContain('class="miss"');
  });

  test("breaks where more than five minutes passed, and says how much", () => {
    const [short, long] = [300_000, 3_900_000].map((ms) =>
      drawCrossSection(dataOf([makeCall(), makeCall({ startMs: startMs + ms })]), 0, 1),
    );
    expect(short).not.toContain('class="break"');
    expect(long).toMatch(/<g class="break">.*>1 h 5 min<\/text><\/g>/);
    expect(rectsOf(long ?? "")[5]).toContain('x="96"');
  });

  test("marks calls of side threads", () => {
    const svg = drawCrossSection(dataOf([makeCall(), makeCall({ thread: "helper" })]), 0, 1);
    expect(svg.match(/class="side"/g)).toHaveLength(1);
    expect(svg).toContain("thread helper");
  });

  test("is empty where there is no such session", () => {
    expect(drawCrossSection(dataOf([]), 0, 0)).toBe("");
    expect(summariseSession(dataOf([]), 0, 0)).toBe("");
  });
});

test("a session is summed up in one sentence", () => {
  expect(summariseSession(dataOf([makeCall()]), 0, 1)).toBe(
    "a.jsonl: 1 call, 1.0k prompt tokens; read 40.0 %, written 35.0 %, fresh 25.0 %; 1 miss.",
  );
  const many = Array.from({ length: 401 }, () => makeCall());
  expect(summariseSession(dataOf(many), 0, 0)).toBe(
    "a.jsonl: the first 400 of 401 calls, 400.0k prompt tokens; read 0.0 %, written 0.0 %, fresh 100.0 %; 0 misses.",
  );
});

test("the misses of a session are a table", () => {
  expect(listMisses(dataOf([makeCall()]), 0, 1)).toContain(
    '<tr><th scope="row">1</th><td>lifetime expired</td><td class="number">321</td></tr>',
  );
  expect(listMisses(dataOf([makeCall()]), 0, 0)).toBe("<tr><td>No call missed.</td></tr>");
});

describe("excerpts in the table of misses", () => {
  test("are the first block that was not read, as text", () => {
    const { data } = toPageData(makeReport(), [makeMissing("<b>Go</b> on"), makeCall()], {
      excerpts: true,
    });
    expect(listMisses(data, 0, 1)).toBe(
      '<tr><th scope="col">call</th><th scope="col">cause</th><th scope="col" class="number">tokens</th>' +
        '<th scope="col">first block that was not read</th></tr>' +
        '<tr><th scope="row">1</th><td>lifetime expired</td><td class="number">321</td>' +
        '<td class="excerpt">&lt;b&gt;Go&lt;/b&gt; on</td></tr>' +
        '<tr><th scope="row">2</th><td>lifetime expired</td><td class="number">321</td>' +
        '<td class="excerpt">(not in the recording)</td></tr>',
    );
  });

  test("are reported as missing once if the recording has no content", () => {
    const { data } = toPageData(makeReport(), [makeCall(), makeCall()], { excerpts: true });
    const table = listMisses(data, 0, 1);
    expect(table.match(/No excerpts: this recording holds no content\./g)).toHaveLength(1);
    expect(table).not.toContain("first block that was not read");
    expect(table).not.toContain("<td></td>");
  });

  test("are not there unless asked for", () => {
    const { data } = toPageData(makeReport(), [makeMissing("Go on")]);
    expect(JSON.stringify(data)).not.toContain("Go on");
    expect(listMisses(data, 0, 1)).not.toContain("excerpt");
  });
});

test.each([
  [0, "0 s"],
  [29_400, "29 s"],
  [300_000, "5 min"],
  [3_600_000, "1 h 0 min"],
  [7_500_000, "2 h 5 min"],
  [183_600_000, "2 d 3 h"],
])("%d ms are %s", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test.each([
  [999, "999"],
  [45_678, "45.7k"],
  [12_345_678, "12.3M"],
])("%d tokens are %s", (tokens, text) => {
  expect(formatTokens(tokens)).toBe(text);
});

test("escaped text has nothing that ends an element or an attribute", () => {
  expect(escapeHtml(`<b title="x" id='y'>&`)).toBe(
    "&lt;b title=&quot;x&quot; id=&#39;y&#39;&gt;&amp;",
  );
});

function dataOf(calls: readonly ReturnType<typeof makeCall>[]): PageData {
  return toPageData(makeReport(), calls).data;
}

function segments(data: PageData, policy: number): unknown {
  const [session] = data.sessions;
  return session === undefined ? [] : toSegments(session, policy, 0);
}

function rectsOf(svg: string): readonly string[] {
  return [...svg.matchAll(/<rect (class="\w+ \w+" [^/]*)\/>/g)].map(([, text = ""]) => text);
}
