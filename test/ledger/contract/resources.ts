// What providers keep for sessions: recorded before it is made, paid by its session, and in sight until it is gone.
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import type { NewResource } from "../../../src/core/ledger/resource-record.ts";
import { createLedger } from "../../../src/edge/stores/ledger/create-ledger.ts";
import { newHolder } from "../../../src/edge/stores/ledger/lease-holder.ts";
import { dumpLedger } from "../../../src/edge/stores/dump-ledger.ts";
import type { TestStore } from "../stores.ts";
import { all, each, lines, loneCall, openSession, refusal, startMs } from "../test-kit.ts";

function resource(id: string, more: Partial<NewResource> = {}): NewResource {
  return {
    id,
    sessionId: "a",
    kind: "stored prefix",
    provider: "google",
    model: "gemini-api/gemini-3.8-flash",
    tokens: 50_000,
    createdMs: startMs,
    expiresMs: startMs + 600_000,
    ...more,
  };
}

const made = { state: "live", name: "cachedContents/x", tokens: 50_012 } as const;
const fresh = { state: "creating", name: null, endedMs: null, costPicoUsd: null, isLeft: false };

export function resourcesContract({ open, blank, connect }: TestStore): void {
  test("it is in sight from before it is made until it is gone", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await ledger.addResource(resource("r1"));
    expect(await ledger.listResources()).toEqual([{ ...resource("r1"), ...fresh }]);
    const call = loneCall("a", "r1", { kind: "stored", costPicoUsd: 700n });
    expect(await ledger.changeResource("r1", { ...made, call })).toBe(true);
    const live = { ...resource("r1"), ...fresh, ...made };
    expect(await ledger.listResources({ sessionId: "a" })).toEqual([live]);
    expect(await ledger.listResources({ sessionId: "b" })).toEqual([]);
    await ledger.changeResource("r1", { state: "deleting" });
    const stored = loneCall("a", "r1 storage", { kind: "stored", usage: null, costPicoUsd: 42n });
    const gone = { state: "gone", endedMs: startMs + 5, costPicoUsd: 42n } as const;
    await ledger.changeResource("r1", { ...gone, call: stored });
    expect(await ledger.listResources()).toEqual([]);
    expect(await ledger.listResources({ withGone: true })).toEqual([{ ...live, ...gone }]);
    expect(await ledger.findSession("a")).toMatchObject({ costPicoUsd: 742n });
    expect(await ledger.readLoneCalls("a")).toEqual([call, stored]);
    expect(await ledger.sumLoneCalls("stored", startMs)).toBe(742n);
    expect((await ledger.stats()).costPicoUsd).toBe(742n);
    expect(await all(ledger.check())).toEqual([]);
  });

  test("what is gone does not change any more, and is paid once", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await ledger.addResource(resource("r1"));
    const call = loneCall("a", "r1 storage", { kind: "stored", costPicoUsd: 42n });
    const gone = { state: "gone", endedMs: startMs, call } as const;
    expect(await ledger.changeResource("r1", gone)).toBe(true);
    expect(await ledger.changeResource("r1", { ...gone, call: { ...call, endMs: 1 } })).toBe(false);
    expect(await ledger.changeResource("r1", { state: "live" })).toBe(false);
    expect(await ledger.changeResource("none", { state: "live" })).toBe(false);
    expect(await ledger.findSession("a")).toMatchObject({ costPicoUsd: 42n });
    expect(await ledger.readLoneCalls("a")).toHaveLength(1);
  });

  test("one of no session, and a taken id, are refused", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await ledger.addResource(resource("r1"));
    expect(await refusal(ledger.addResource(resource("r1")))).toMatchObject({
      code: "conflict",
      message: "there is already a provider resource r1",
    });
    expect(await refusal(ledger.addResource(resource("r2", { sessionId: "x" })))).toMatchObject({
      code: "not-found",
      message: "there is no session x",
    });
  });

  test("one whose process has ended is left", async () => {
    const { ledger, database } = await open();
    await openSession(ledger, "a");
    await ledger.addResource(resource("r1"));
    const { pid } = spawnSync(process.execPath, ["-e", "0"]);
    const holder = newHolder().replace(`:${process.pid}:`, `:${pid}:`);
    await database.query("UPDATE provider_resources SET holder = ? WHERE id = 'r1'", [holder]);
    expect(await ledger.listResources()).toMatchObject([{ id: "r1", isLeft: true }]);
  });

  test("it outlives its deleted session, without its name, until it is gone", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await ledger.addResource(resource("r1"));
    await ledger.addResource(resource("r2"));
    await ledger.changeResource("r1", { state: "gone", endedMs: startMs });
    await ledger.deleteSession("a");
    const left = { id: "r2", sessionId: "", isLeft: true };
    expect(await ledger.listResources({ withGone: true })).toMatchObject([left]);
    expect(await all(ledger.check())).toEqual([]);
  });

  test("a backup has it, and an export of its session only what it cost", async () => {
    const { ledger, database } = await open();
    await openSession(ledger, "a");
    await ledger.addResource(resource("r1"));
    await ledger.changeResource("r1", { ...made, call: loneCall("a", "r1", { kind: "stored" }) });
    const written = await lines(ledger, "a");
    expect(written.join("\n")).not.toContain("cachedContents");
    const other = await createLedger(await connect(await blank()));
    await other.importSession(each(written), { isTrusted: true });
    expect(await other.readLoneCalls("a")).toMatchObject([{ id: "r1", kind: "stored" }]);
    expect(await other.listResources()).toEqual([]);
    await other.close();
    if (database.kind === "sqlite") return;
    const dumped = await database.snapshot((snapshot) => all(dumpLedger(snapshot)));
    expect(dumped.join("\n")).toContain("cachedContents/x");
  });

  test("a check finds one without its session or with another end than its state", async () => {
    const { ledger, database, expectDamage } = await open();
    await openSession(ledger, "a");
    await ledger.addResource(resource("r1"));
    expectDamage();
    await database.query(
      "UPDATE provider_resources SET session_id = 'b', gone_ms = 5, lifecycle = 'live' WHERE id = 'r1'",
    );
    expect(await all(ledger.check())).toEqual([
      "provider resource r1 belongs to session b, which does not exist",
      "provider resource r1 is live, but has an end",
      "provider resource r1 is live without a name of the provider",
    ]);
  });
}
