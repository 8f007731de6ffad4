import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { ReplayReport } from "../report.ts";
import { renderReplayPage } from "./render-replay-page.ts";
import { makeCall, makeFigures, makePolicy, makeReport } from "./test-kit.ts";

const details = [makeCall(), makeCall({ startMs: 1_800_000_060_000, model: "model-b" })];

describe("the header", () => {
  const page = renderReplayPage(makeReport(), details);

  test("shows the best policy and its ratio to the limit", () => {
    expect(page).toContain(
      '<p id="best">The best policy is adaptive at $2.50, 1.250 × the limit of $2.00.</p>',
    );
  });

  test("names policies that cost exactly as little", () => {
    const policies = [makePolicy("metis", 2), makePolicy("none", 9), makePolicy("nexus", 2)];
    expect(renderReplayPage(makeReport({ policies }), [])).toContain(
      "The best policy is metis at $2.00, 1.000 × the limit of $2.00; as cheap: nexus.</p>",
    );
  });

  test("shows how much was replayed", () => {
    expect(page).toContain("<dt>sessions</dt><dd>3</dd>");
    expect(page).toContain("<dt>requests</dt><dd>1,200</dd>");
    expect(page).toContain("<dt>models</dt><dd>model-a (1 call), model-b (1 call)</dd>");
    expect(page).toContain("<dt>limit</dt><dd>$2.00, 0.2000 of no caching</dd>");
  });
});

test("the table has every figure of a policy", () => {
  const row = /<tr><th scope="row">adaptive<\/th>(.*)<\/tr>/.exec(
    renderReplayPage(makeReport(), []),
  );
  expect(row?.[1]?.match(/>[^<]+</g)).toEqual(
    [
      ["$2.50", "1.250", "0.2500", "80.0 %", "90.0 %", "800.0k"],
      ["60.0k", "0", "40.0k", "100.0k", "7.5k", "1.25"],
    ]
      .flat()
      .map((text) => `>${text}<`),
  );
});

test("misses are listed by cause with dollars, the most expensive first", () => {
  const page = renderReplayPage(makeReport(), []);
  expect(page).toContain("<summary>adaptive: 4 misses, $0.7625</summary>");
  expect(page).toMatch(
    /lifetime expired<\/th><td class="number">3<\/td><td class="number">42.0k<\/td><td class="number">\$0.7500<.*\n.*beyond lookback/,
  );
});

test("groups are a table when there are any", () => {
  const { groups: _, ...group } = makeReport();
  const page = renderReplayPage(makeReport({ groups: [{ ...group, name: "monday" }] }), []);
  expect(page).toContain('<table id="groups">');
  expect(page).toContain('<th scope="row">monday</th><td class="number">3</td>');
  expect(renderReplayPage(makeReport(), [])).not.toContain('id="groups"');
});

test("what was reported apart, replaced or skipped is listed with counts", () => {
  const page = renderReplayPage(
    makeReport({
      automaticOnly: { ...makeFigures(0.5), sessions: 2, requests: 30 },
      standIns: [{ reason: "model-a stands in for model-z", count: 12 }],
      skipped: [{ reason: "line is not JSON", count: 1 }],
      skippedWhere: [{ file: "b.jsonl", line: 7, reason: "line is not JSON" }],
    }),
    [],
  );
  expect(page).toContain("2 sessions (30 requests) of providers that take no markers: $0.5000");
  expect(page).toContain("<li>model-a stands in for model-z (12 requests)</li>");
  expect(page).toContain("<li>line is not JSON (1 time)</li>");
  expect(page).toContain("<li>b.jsonl:7 line is not JSON</li>");
});

test("places beyond the first hundred are counted", () => {
  const skippedWhere = Array.from({ length: 103 }, () => ({ file: "b", line: null, reason: "c" }));
  const page = renderReplayPage(makeReport({ skippedWhere }), []);
  expect(page).toContain("<li>and 3 more; --json names them</li>");
});

test("the page says what it leaves out", () => {
  const many = Array.from({ length: 410 }, () => makeCall());
  expect(renderReplayPage(makeReport(), many)).toContain("Left out: 0 sessions, 10 calls.");
  expect(renderReplayPage(makeReport(), details)).not.toContain('id="left-out"');
});

test("the cheapest policy and the session with the most calls are drawn and chosen before any script runs", () => {
  const page = renderReplayPage(makeReport(), [makeCall({ sessionId: "short" }), ...details]);
  expect(page).toContain('<option value="0" selected>session-1 (2 calls)</option>');
  expect(page).toContain('<option value="1" selected>adaptive</option>');
  expect(page).toContain('aria-label="2 calls of session-1 under adaptive"');
});

describe("the page's own policy", () => {
  test("allows exactly the script and the style sheet that are in it", () => {
    const page = renderReplayPage(makeReport(), details);
    const rules = /Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1];
    const script = /<script>([^]*?)<\/script>/.exec(page)?.[1] ?? "";
    const style = /<style>([^]*?)<\/style>/.exec(page)?.[1] ?? "";
    expect(script).toContain("function drawCrossSection");
    expect(rules).toBe(
      `default-src 'none'; style-src 'sha256-${sha256(style)}'; script-src 'sha256-${sha256(script)}'; ` +
        "img-src data:; base-uri 'none'; form-action 'none'",
    );
    expect(page).not.toMatch(/\sstyle=|\son\w+=/);
  });

  test("allows no script where there is nothing to choose", () => {
    const page = renderReplayPage(makeReport(), []);
    expect(page).not.toContain("<script");
    expect(page).not.toContain("script-src");
  });

  test("is not needed to keep requests in: the page names no address", () => {
    expect(renderReplayPage(fullReport("x"), details)).not.toMatch(/https?:\/\/|url\(|@import/);
  });
});

test("names and reasons from recordings are text wherever they stand", () => {
  const hostile = `</script><img src=x onerror="alert(1)"><!--'&`;
  const calls = [
    makeCall({ sessionId: hostile, file: hostile, model: hostile }),
    makeCall({ sessionId: hostile, file: hostile, model: hostile, thread: hostile }),
  ];
  const page = renderReplayPage(fullReport(hostile), calls);
  expect(page).not.toContain("<img");
  // The page's own two elements: its data and its script.
  expect(page.match(/<\/script/g)).toHaveLength(2);
  expect(page).not.toContain("<!--");
  // A quote inside an attribute would make the rest of the name markup.
  expect(page.replace(/<script[^]*?<\/script>/g, "")).not.toContain('"alert');
  const data = /<script type="application\/json" id="replay-data">(.*)<\/script>/.exec(page)?.[1];
  expect(JSON.parse(data ?? "")).toMatchObject({ sessions: [{ id: hostile, file: hostile }] });
});

test("the same replay gives the same bytes", () => {
  expect(renderReplayPage(fullReport("x"), details)).toBe(
    renderReplayPage(fullReport("x"), details),
  );
});

test("a replay of nothing is still a page", () => {
  const page = renderReplayPage(makeReport({ sessions: 0, requests: 0, policies: [] }), []);
  expect(page).toContain("No policy was replayed.");
});

/** A report with every optional part, and one name for everything. */
function fullReport(name: string): ReplayReport {
  const policies = [makePolicy(name, 3), makePolicy(`${name}2`, 5)];
  const recorded = { ...makeFigures(4), requests: 10, warmStartTokens: 5 };
  const { groups: _, ...group } = makeReport({ policies, recorded });
  return makeReport({
    policies,
    recorded,
    groups: [{ ...group, name }],
    automaticOnly: { ...makeFigures(1), sessions: 1, requests: 1, recorded },
    standIns: [{ reason: name, count: 1 }],
    skipped: [{ reason: name, count: 1 }],
    skippedWhere: [{ file: name, line: 1, reason: name }],
  });
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
