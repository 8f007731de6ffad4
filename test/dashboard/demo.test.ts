// Goal: `strata serve --demo` fills a dashboard with a day that looks like one. Method: the day is played through the real gateway and simulator.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openServe } from "../../src/cli/serve/open-serve.ts";
import type { ObservedCall } from "../../src/gateway/observed-call.ts";

test("a day of simulated agents has misses of many causes, a compaction, sub-agents and other programs", async () => {
  const folder = mkdtempSync(join(tmpdir(), "strata-demo-"));
  const configFile = join(folder, "strata.yaml");
  writeFileSync(configFile, "");
  const calls: ObservedCall[] = [];
  const served = await openServe({
    flags: {
      port: 0,
      host: null,
      configFile,
      upstreams: new Map(),
      isSimulated: true,
      isDemo: true,
      isOnlyApi: false,
      store: undefined,
      recordFolder: null,
      isOptimizing: false,
      lines: "none",
    },
    env: { STRATA_DATA_DIR: folder },
    onNotice: (notice) => expect.unreachable(notice),
    onCall: (call) => calls.push(call),
  });
  onTestFinished(async () => {
    await served.close("at once");
    rmSync(folder, { recursive: true });
  });
  const beganMs = Date.now();
  await served.demo?.play(served.gateway.urls[0] ?? "");
  expect(calls.length).toBeGreaterThan(400);
  expect(calls.filter(({ status }) => status !== "complete")).toEqual([]);
  const [first, last] = [calls[0], calls.at(-1)];
  expect((last?.startMs ?? 0) - (first?.startMs ?? 0)).toBeGreaterThan(23 * 3_600_000);
  expect(last?.endMs).toBeLessThanOrEqual(beganMs + 60_000);
  const causes = new Set(calls.map(({ explanation }) => explanation?.cause));
  for (const cause of [
    "tools changed",
    "tools reordered",
    "system changed",
    "history rewritten",
    "model changed",
    "parameter changed",
    "lifetime expired",
    "below the minimum",
    "beyond lookback",
    "nothing was marked",
  ] as const) {
    expect([...causes]).toContain(cause);
  }
  const kinds = new Set(calls.map(({ conversation }) => conversation.kind));
  expect(kinds).toContain("sub-agent");
  const clients = new Set(calls.map(({ conversation }) => conversation.client));
  expect(clients.size).toBeGreaterThan(4);
});
