// Readers of live events: one look at the ledger serves all of them, and each costs a place in the ring and the buffer of its connection.
import type { IncomingMessage, ServerResponse } from "node:http";
import { setImmediate } from "node:timers/promises";
import { messageOf } from "../../core/strata-error.ts";
import { refuseWith } from "../answer/api-error.ts";
import { parsePosition, parseWanted, type IsWanted } from "../routes/events.ts";
import type { Asked } from "../routes/route.ts";
import { createFrameRing, toFrame, type FrameRing, type RingLimits } from "./frame-ring.ts";
import { eventsPerPage, type PageReader } from "./page-reader.ts";

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

export function createEventStreams(
  readPage: PageReader,
  onProblem: (problem: string) => void,
  changed: Partial<StreamLimits> = {},
): EventStreams {
  return new LedgerStreams(readPage, onProblem, { ...usualLimits, ...changed });
}

class LedgerStreams implements EventStreams {
  readonly #readPage: PageReader;
  readonly #onProblem: (problem: string) => void;
  readonly #limits: StreamLimits;
  readonly #readers = new Set<Reader>();
  /** Null while no one follows. */
  #ring: FrameRing | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isLooking = false;
  #pingedMs = 0;

  constructor(readPage: PageReader, onProblem: (problem: string) => void, limits: StreamLimits) {
    this.#readPage = readPage;
    this.#onProblem = onProblem;
    this.#limits = limits;
  }

  get count(): number {
    return this.#readers.size;
  }

  async open(asked: Asked, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { readersMax } = this.#limits;
    const isWanted = parseWanted(asked.query);
    const header = incoming.headers["last-event-id"];
    const known = parsePosition(typeof header === "string" ? header : asked.query.after);
    if (this.#readers.size >= readersMax) throw tooMany(readersMax);
    incoming.resume();
    const ends = await this.#readPage({ limit: "1" });
    const { newest_position: newest, oldest_position: oldest } = ends;
    begin(outgoing);
    const position = Math.min(known ?? newest, newest);
    const reader: Reader = { outgoing, isWanted, position, isFull: false, isCatchingUp: false };
    // The ledger is another one than the reader knew, or older events were swept.
    if (known !== null && known > newest) tellMissed(outgoing, newest, known, newest);
    if (known !== null && oldest !== null && known < oldest - 1) {
      tellMissed(outgoing, known, oldest - 1, oldest - 1);
      reader.position = oldest - 1;
    }
    const ring = this.#join(reader, newest);
    if (reader.position >= ring.from) return pump(reader, ring);
    await this.#catchUp(reader).catch((error: unknown) => {
      this.#onProblem(`a reader of live events has to come back: ${messageOf(error)}`);
      outgoing.destroy();
    });
  }

  close(): void {
    for (const { outgoing } of this.#readers) outgoing.end();
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  #join(reader: Reader, newest: number): FrameRing {
    const { outgoing } = reader;
    this.#readers.add(reader);
    outgoing.on("close", () => this.#leave(reader));
    outgoing.on("drain", () => {
      reader.isFull = false;
      if (this.#ring !== null) pump(reader, this.#ring);
    });
    this.#timer ??= setInterval(() => this.#tick(), this.#limits.lookEveryMs);
    this.#ring ??= createFrameRing(newest, this.#limits.ring);
    return this.#ring;
  }

  #leave(reader: Reader): void {
    this.#readers.delete(reader);
    if (this.#readers.size > 0) return;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#ring = null;
  }

  #tick(): void {
    if (!this.#isLooking) {
      this.#isLooking = true;
      this.#look()
        .catch((error: unknown) => this.#onProblem(`live events are late: ${messageOf(error)}`))
        .finally(() => {
          this.#isLooking = false;
        });
    }
    const nowMs = Date.now();
    if (nowMs - this.#pingedMs < this.#limits.pingEveryMs) return;
    this.#pingedMs = nowMs;
    for (const { outgoing, isFull } of this.#readers) if (!isFull) outgoing.write(": ping\n\n");
  }

  /** Gives everyone what is new. */
  async #look(): Promise<void> {
    for (;;) {
      const ring = this.#ring;
      if (ring === null) return;
      const { data, next_after: next } = await this.#readPage({ after: String(ring.to) });
      // In parts, so that a page of long events does not push itself out before anyone has it.
      for (let from = 0; from < data.length; from += eventsPerPart) {
        const part = data.slice(from, from + eventsPerPart);
        ring.add(part, part.at(-1)?.position ?? ring.to);
        for (const reader of this.#readers) pump(reader, ring);
        await setImmediate();
      }
      ring.add([], next);
      if (data.length < eventsPerPage) return;
    }
  }

  /** Gives one reader what is older than the ring, from the ledger and as fast as it takes it. */
  async #catchUp(reader: Reader): Promise<void> {
    reader.isCatchingUp = true;
    for (let given = 0; this.#ring !== null && this.#readers.has(reader);) {
      if (reader.position >= this.#ring.from) break;
      if (given >= this.#limits.catchUpMax) {
        miss(reader, this.#ring);
        break;
      }
      const page = await this.#readPage({ after: String(reader.position) });
      for (const event of page.data) {
        if (reader.isWanted(event)) reader.outgoing.write(toFrame(event).bytes);
      }
      given += page.data.length;
      reader.position = page.next_after;
      if (reader.outgoing.writableNeedDrain) await drained(reader.outgoing);
    }
    reader.isCatchingUp = false;
    if (this.#ring !== null) pump(reader, this.#ring);
  }
}

/** As much as the connection takes. What does not fit stays in the ring, for as long as it is there. */
function pump(reader: Reader, ring: FrameRing): void {
  if (reader.isCatchingUp || reader.isFull) return;
  if (reader.position < ring.from) miss(reader, ring);
  for (;;) {
    const batch = ring.after(reader.position);
    const last = batch?.frames.at(-1);
    if (batch === null || last === undefined) {
      reader.position = Math.max(reader.position, ring.to);
      return;
    }
    const { frames } = batch;
    const wanted = frames.filter((frame) => reader.isWanted(frame));
    reader.position = last.position;
    if (wanted.length === 0) continue;
    const isAll = wanted.length === frames.length;
    const bytes = isAll ? batch.bytes : Buffer.concat(wanted.map((frame) => frame.bytes));
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
