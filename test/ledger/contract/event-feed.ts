// Events by their place: who goes on from a position sees every later event once, whichever process wrote it and however its ids are ordered.
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { createEventFeed, type EventFeed } from "../../../src/edge/stores/ledger/event-feed.ts";
import { migrate } from "../../../src/edge/stores/sql/migrate.ts";
import { migrations } from "../../../src/edge/stores/sql/migrations.ts";
import type { TestStore } from "../stores.ts";
import { openSession } from "../test-kit.ts";
import { eventId, newEvent } from "./new-event.ts";

export function eventFeedContract({ open, blank, connect, kind }: TestStore): void {
  test("events are read in the order in which they were written, not of their ids", async () => {
    const { ledger, database, reopen } = await open();
    const feed = createEventFeed(database);
    const { newest } = await feed.ends();
    await ledger.appendEvents([newEvent("a", 5)]);
    await (await reopen()).appendEvents([newEvent("b", 3), newEvent("b", 4)]);
    expect(await idsAfter(feed, newest)).toEqual([5, 3, 4].map(eventId));
    const first = (await feed.read({ after: newest, upTo: Number.MAX_SAFE_INTEGER, limit: 1 }))[0];
    expect(await idsAfter(feed, first?.position ?? 0)).toEqual([3, 4].map(eventId));
  });

  test("a position is never given again, not even after the latest events were deleted", async () => {
    const { ledger, database } = await open();
    const feed = createEventFeed(database);
    await openSession(ledger, "a");
    await ledger.appendEvents([newEvent("a", 1), newEvent("a", 2)]);
    const { newest } = await feed.ends();
    await ledger.deleteSession("a");
    const { newest: later, oldest } = await feed.ends();
    expect(later).toBeGreaterThan(newest);
    expect(oldest).toBe(later);
  });

  test("events that were there before they had places have them in the order of their writing", async () => {
    const where = await blank();
    const database = await connect(where);
    onTestFinished(() => database.close());
    await migrate(database, 1, migrations.slice(0, 11));
    await database.exclusive(async (query) => {
      for (const number of [2, 1, 3]) {
        const columns = "id, timestamp_us, session_id, type, actor, sensitivity, payload_json";
        await query(
          `INSERT INTO events (${columns}) VALUES (?, 1, 'a', 'turn.abandoned', 'system', 'private', '{}')`,
          [eventId(number)],
        );
      }
    });
    await migrate(database, 2);
    const feed = createEventFeed(database);
    expect(await idsAfter(feed, 0)).toEqual([2, 1, 3].map(eventId));
  });

  test.runIf(kind === "postgres")(
    "an event that a slow transaction makes visible late is waited for, and one that was taken back is not",
    async () => {
      const { ledger, database, where } = await open();
      const feed = createEventFeed(database);
      await ledger.appendEvents([newEvent("a", 9)]);
      const { newest, settled } = await feed.ends();
      expect(settled).toBe(newest);
      const slow = await openSlow(where);
      await slow.insert(eventId(1));
      await ledger.appendEvents([newEvent("a", 2)]);
      expect(await feed.ends()).toMatchObject({ newest: newest + 2, settled: newest });
      expect(await idsAfter(feed, newest)).toEqual([]);
      await slow.end("COMMIT");
      expect(await idsAfter(feed, newest)).toEqual([1, 2].map(eventId));
      const failing = await openSlow(where);
      await failing.insert(eventId(3));
      await ledger.appendEvents([newEvent("a", 4)]);
      expect(await idsAfter(feed, newest + 2)).toEqual([]);
      await failing.end("ROLLBACK");
      expect(await idsAfter(feed, newest + 2)).toEqual([4].map(eventId));
    },
  );
}

async function idsAfter(feed: EventFeed, after: number): Promise<readonly string[]> {
  const { settled } = await feed.ends();
  const placed = await feed.read({ after, upTo: settled, limit: 100 });
  return placed.map(({ event }) => event?.id ?? "");
}

interface SlowTransaction {
  insert(id: string): Promise<void>;
  end(how: "COMMIT" | "ROLLBACK"): Promise<void>;
}

async function openSlow(connectionString: string): Promise<SlowTransaction> {
  const client = new Client({ connectionString });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query("BEGIN");
  return {
    insert: async (id) => {
      await client.query(
        "INSERT INTO events (id, timestamp_us, session_id, type, actor, sensitivity, payload_json) VALUES ($1, 1, 'a', 'skill.modified', 'system', 'private', '{}')",
        [id],
      );
    },
    end: async (how) => {
      await client.query(how);
    },
  };
}
