// A thousand readers of live events: what one costs the server, and how many events reach them in a second.
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openLedger } from "../../src/edge/stores/open-ledger.ts";
import { completeEvent, type StrataEvent } from "../../src/core/events/event.ts";
import { createEventIds } from "../../src/core/events/event-ids.ts";

export interface LiveReaders {
  /** Events that reached a reader, over all of them. */
  readonly deliveredPerSecond: number;
  readonly kilobytesPerReader: number;
  /** Of the server. */
  readonly cpuMsPerThousandEvents: number;
  /** Events that some reader did not get. */
  readonly lostCount: number;
}

interface Used {
  readonly bytes: number;
  readonly cpuMs: number;
}

const [batches, eventsPerBatch] = [20, 50];

export async function measureLiveReaders(store: string, readerCount: number): Promise<LiveReaders> {
  const ledger = await openLedger(store);
  await ledger.appendEvents([newEvent()]);
  const child = fork(fileURLToPath(new URL("live-server.ts", import.meta.url)), [store], {
    execArgv: ["--expose-gc"],
  });
  const sockets: Socket[] = [];
  try {
    const [port] = (await once(child, "message")) as [number];
    // What the first readers load is no cost of the others.
    await openReaders(port, 20, sockets);
    await ledger.appendEvents(Array.from({ length: eventsPerBatch }, newEvent));
    await setTimeout(1000);
    const before = await askUsed(child);
    const counts = await openReaders(port, readerCount, sockets);
    await setTimeout(500);
    const open = await askUsed(child);
    const startMs = performance.now();
    const wanted = batches * eventsPerBatch;
    for (let batch = 0; batch < batches; batch += 1) {
      await ledger.appendEvents(Array.from({ length: eventsPerBatch }, newEvent));
    }
    const isDone = (): boolean => counts.every((count) => count.events >= wanted);
    while (!isDone() && performance.now() - startMs < 60_000) await setTimeout(5);
    const seconds = (performance.now() - startMs) / 1000;
    const after = await askUsed(child);
    const delivered = counts.reduce((sum, { events }) => sum + events, 0);
    return {
      deliveredPerSecond: delivered / seconds,
      kilobytesPerReader: (Math.max(open.bytes, after.bytes) - before.bytes) / readerCount / 1024,
      cpuMsPerThousandEvents: ((after.cpuMs - open.cpuMs) / delivered) * 1000,
      lostCount: wanted * readerCount - delivered,
    };
  } finally {
    for (const socket of sockets) socket.destroy();
    child.kill();
    await once(child, "exit");
    await ledger.close();
  }
}

interface Count {
  events: number;
}

async function openReaders(port: number, count: number, sockets: Socket[]): Promise<Count[]> {
  const counts: Count[] = [];
  for (let number = 0; number < count; number += 1) {
    const socket = connect(port, "127.0.0.1");
    const read: Count = { events: 0 };
    sockets.push(socket);
    counts.push(read);
    let rest = "";
    const begun = Promise.withResolvers<void>();
    socket.setEncoding("latin1");
    socket.on("data", (text: string) => {
      begun.resolve();
      const whole = rest + text;
      read.events += whole.split("\nid: ").length - 1;
      rest = whole.slice(-4);
    });
    socket.write("GET /strata/v1/events/stream HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n");
    await begun.promise;
  }
  return counts;
}

async function askUsed(child: ChildProcess): Promise<Used> {
  const answer = once(child, "message");
  child.send("used");
  const [used] = (await answer) as [Used];
  return used;
}

const nextId = createEventIds();
let made = 0;

function newEvent(): StrataEvent {
  made += 1;
  const id = nextId.next(Date.now(), new Uint8Array(10).fill(made & 0xff));
  return completeEvent(
    {
      type: "session.resumed",
      sessionId: `session-${made % 50}`,
      payload: { workspace_hash: "a".repeat(64), last_event_id_at_resume: null },
    },
    { id, timestampUs: Date.now() * 1000 },
  );
}
