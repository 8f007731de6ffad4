// Readers of live events: one look at the ledger serves all of them, and each costs a place in the ring and the buffer of its connection.
import type { IncomingMessage, ServerResponse } from "node:http";
import { setImmediate } from "node:timers/promises";
import type { Access } from "../access/access.ts";
import { refuseWith } from "../answer/api-error.ts";
import { parsePosition, parseWanted, type IsWanted } from "../routes/events.ts";
import type { Asked } from "../routes/route.ts";
import { createFrameRing, toFrame, type FrameRing, type RingLimits } from "./frame-ring.ts";
import { eventsPerPage, type EventPage, type PageReader } from "./page-reader.ts";

export interface EventStreams {
  /** Answers with a stream that lasts until the reader or the server ends it. */
  open(asked: Asked, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void>;
  readonly count: number;
  close(): void;
}

export interface StreamLimits {
  readonly readersMax: number;
  readonly lookEveryMs: number;
  readonly pingEveryMs: number;
  /** How many events a reader that comes back is given from the ledger. */
  readonly catchUpMax: number;
  readonly ring: RingLimits;
}

const usualLimits: StreamLimits = {
  readersMax: 2000,
  lookEveryMs: 250,
  pingEveryMs: 15_000,
  catchUpMax: 20_000,
  ring: { framesMax: 5000, bytesMax: 4 * 1024 * 1024 },
};

const eventsPerPart = 50;

interface Reader {
  readonly outgoing: ServerResponse;
  readonly isWanted: IsWanted;
  /** Everything up to here was sent, or was not wanted. */
  position: number;
  /** Its connection takes nothing at the moment. */
  isFull: boolean;
  /** It is given what is older than the ring. */
  isCatchingUp: boolean;
}

export const streamHeaders: Readonly<Record<string, string>> = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  // For proxies that would collect the answer.
  "x-accel-buffering": "no",
};

const everyone: Access = { kind: "owner" };

export function createEventStreams(
  readPage: PageReader,
  onProblem: (problem: string) => void,
  changed: Partial<StreamLimits> = {},
): EventStreams {
  const limits = { ...usualLimits, ...changed };
  const readers = new Set<Reader>();
  let ring: FrameRing | null = null;
  let looking: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;
  let pingedMs = 0;

  const look = async (): Promise<void> => {
    const followed = ring;
    // Without readers nothing is followed, and the next one begins another ring.
    while (followed !== null && followed === ring) {
      const page: EventPage = await readPage(everyone, { after: String(followed.to) });
      // In parts, so that a page of long events does not push itself out before anyone has it.
      for (let from = 0; from < page.data.length; from += eventsPerPart) {
        const part = page.data.slice(from, from + eventsPerPart);
        followed.add(part, part.at(-1)?.position ?? followed.to);
        for (const reader of readers) pump(reader, followed);
        await setImmediate();
      }
      followed.add([], page.next_after);
      if (page.data.length < eventsPerPage) return;
    }
  };
  const lookSoon = (): void => {
    looking ??= look()
      .catch((error: unknown) => onProblem(`live events are late: ${String(error)}`))
      .finally(() => {
        looking = null;
      });
  };
  const tick = (): void => {
    lookSoon();
    const nowMs = Date.now();
    if (nowMs - pingedMs < limits.pingEveryMs) return;
    pingedMs = nowMs;
    for (const { outgoing, isFull } of readers) if (!isFull) outgoing.write(": ping\n\n");
  };
  const leave = (reader: Reader): void => {
    readers.delete(reader);
    if (readers.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
    ring = null;
  };
  const catchUp = async (reader: Reader): Promise<void> => {
    reader.isCatchingUp = true;
    for (let given = 0; readers.has(reader);) {
      if (ring !== null && reader.position >= ring.from) break;
      if (given >= limits.catchUpMax && ring !== null) {
        miss(reader, ring);
        break;
      }
      const page = await readPage(everyone, { after: String(reader.position) });
      for (const event of page.data) {
        if (reader.isWanted(event)) reader.outgoing.write(toFrame(event).bytes);
      }
      given += page.data.length;
      reader.position = page.next_after;
      if (reader.outgoing.writableNeedDrain) await drained(reader.outgoing);
    }
    reader.isCatchingUp = false;
    if (ring !== null) pump(reader, ring);
  };
  return {
    get count() {
      return readers.size;
    },
    open: async (asked, incoming, outgoing) => {
      const { query } = asked;
      const isWanted = parseWanted(query);
      const header = incoming.headers["last-event-id"];
      const known = parsePosition(typeof header === "string" ? header : query.after);
      if (readers.size >= limits.readersMax) throw tooMany(limits.readersMax);
      incoming.resume();
      const { newest_position: newest, oldest_position: oldest } = await readPage(everyone, {});
      begin(outgoing);
      const reader: Reader = {
        outgoing,
        isWanted,
        position: Math.min(known ?? newest, newest),
        isFull: false,
        isCatchingUp: false,
      };
      // The ledger is another one than the reader knew, or older events were swept.
      if (known !== null && known > newest) tellMissed(outgoing, newest, known, newest);
      if (known !== null && oldest !== null && known < oldest - 1) {
        tellMissed(outgoing, known, oldest - 1, oldest - 1);
        reader.position = oldest - 1;
      }
      readers.add(reader);
      outgoing.on("close", () => leave(reader));
      outgoing.on("drain", () => {
        reader.isFull = false;
        if (ring !== null && !reader.isCatchingUp) pump(reader, ring);
      });
      timer ??= setInterval(tick, limits.lookEveryMs);
      ring ??= createFrameRing(newest, limits.ring);
      if (reader.position < ring.from) {
        await catchUp(reader).catch(() => void outgoing.destroy());
      } else pump(reader, ring);
    },
    close: () => {
      for (const { outgoing } of readers) outgoing.end();
      if (timer !== null) clearInterval(timer);
      timer = null;
    },
  };
}

/** As much as the connection takes. What does not fit stays in the ring, for as long as it is there. */
function pump(reader: Reader, ring: FrameRing): void {
  if (reader.isCatchingUp || reader.isFull) return;
  if (reader.position < ring.from) miss(reader, ring);
  for (;;) {
    const frames = ring.after(reader.position);
    const last = frames.at(-1);
    if (last === undefined) {
      reader.position = Math.max(reader.position, ring.to);
      return;
    }
    const wanted = frames.filter((frame) => reader.isWanted(frame));
    reader.position = last.position;
    if (wanted.length === 0) continue;
    const bytes = Buffer.concat(wanted.map((frame) => frame.bytes));
    if (reader.outgoing.write(bytes)) continue;
    reader.isFull = true;
    return;
  }
}

function miss(reader: Reader, ring: FrameRing): void {
  tellMissed(reader.outgoing, reader.position, ring.from, ring.from);
  reader.position = ring.from;
}

/** Not everything between may have been of the types that the reader wants. */
function tellMissed(outgoing: ServerResponse, after: number, through: number, id: number): void {
  outgoing.write(`event: missed\nid: ${id}\ndata: ${JSON.stringify({ after, through })}\n\n`);
}

function begin(outgoing: ServerResponse): void {
  outgoing.writeHead(200, { ...streamHeaders, "x-content-type-options": "nosniff" });
  outgoing.write("retry: 1000\n\n");
}

function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    outgoing.once("drain", resolve);
    outgoing.once("close", resolve);
  });
}

function tooMany(readersMax: number): Error {
  return refuseWith(
    "too_busy",
    `${readersMax} readers follow events already`,
    "end others, or read pages: GET /strata/v1/events",
  );
}
