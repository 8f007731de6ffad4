import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeSession, openSimulated } from "../compact/compact-test-kit.ts";
import { makeExample, strata } from "../test-kit.ts";

function makeFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "strata-show-plan-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "ledger.db");
}

test("a session shows where its latest call was to be kept, why, and which account led before it", async () => {
  const provider = await openSimulated();
  onTestFinished(() => provider.close());
  const file = makeFile();
  const model = "claude-sonnet-4-6";
  await makeSession(file, provider, { id: "build", model, policy: "adaptive", turns: 3 });
  const { out } = await strata({ STRATA_STORE: file }, "sessions", "show", "build");
  expect(out).toMatch(/\nCache markers of the latest call \(\S+, call 1, adaptive\):\n/);
  expect(out).toMatch(/\ntail +5m +\d+ {2}the next call reads up to here\n/);
  expect(out).toMatch(/\naccount before it: so far .* input tokens cheaper/);
  const json = await strata({ STRATA_STORE: file }, "sessions", "show", "build", "--json");
  expect(JSON.parse(json.out)).toMatchObject({
    latestCall: {
      number: 1,
      policy: "adaptive",
      plan: { markers: expect.any(Array), account: { reason: expect.any(String) } },
    },
  });
});

test("a session whose calls asked for nothing says nothing about markers", async () => {
  const file = makeFile();
  await makeExample(file);
  const { out } = await strata({ STRATA_STORE: file }, "sessions", "show", "build");
  expect(out).not.toContain("Cache markers");
});
