// Reads a model's answer as it passes: usage, ids, how it ended. Its text is not kept.
import { redact } from "../../core/events/redact.ts";
import {
  cancelledByCaller,
  endedEarly,
  malformed,
  type ProviderFailure,
} from "../../core/wire/failure.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import type { Reply, ReplyStop, ReportedUsage } from "../../core/wire/reply.ts";
import { findEffects, findStreamForm } from "../../edge/providers/wire-effects.ts";
import { createEventReader, type EventReader, type StreamForm } from "../../edge/providers/sse.ts";
import type { ExchangeEnd } from "../exchange.ts";
import { openContentDecoder } from "./decode-content.ts";
import { createTellingReader } from "./telling-events.ts";

/** What the answer reported. */
export interface SeenReply {
  readonly status: "complete" | "partial" | "failed";
  readonly stopReason: ReplyStop | null;
  readonly failure: ProviderFailure | null;
  readonly replyId: string;
  readonly servedBy: string | null;
  /** What the provider says about its cache; absent if it says nothing. */
  readonly diagnosis?: string;
  /** Null if it reported none. */
  readonly reported: ReportedUsage | null;
  readonly notes: readonly string[];
}

export interface ReplyReader {
  feed(bytes: Uint8Array): void;
  /** Calls back once; at once unless the answer is compressed. */
  end(how: ExchangeEnd["how"], done: (seen: SeenReply) => void): void;
}

export interface ReplyHead {
  readonly protocol: Protocol;
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly nowMs: () => number;
  readonly limits: ReplyLimits;
}

export interface ReplyLimits {
  /** A whole answer, or one event of a stream. */
  readonly answerBytesMax: number;
  /** All bytes of a compressed answer after unpacking. */
  readonly unpackedBytesMax: number;
}

export function openReplyReader(head: ReplyHead): ReplyReader {
  const { status, headers, limits } = head;
  const notes: string[] = [];
  const taker = status >= 400 ? takeRefusal(head) : takeAnswer(head, notes);
  const decoder = openContentDecoder(
    headers["content-encoding"],
    limits.unpackedBytesMax,
    (bytes) => taker.feed(bytes),
  );
  if (decoder === null)
    notes.push(`the answer's coding is not known: ${headers["content-encoding"]}`);
  return {
    feed: (bytes) => decoder?.feed(bytes),
    end: (how, done) => {
      const finish = (problem: string | null): void => {
        if (problem !== null) notes.push(problem);
        const seen = taker.end(how);
        done({ ...seen, failure: cleaned(seen.failure), notes: [...notes, ...seen.notes] });
      };
      if (decoder === null) return finish(null);
      decoder.end(finish);
    },
  };
}

/** A request that got no answer. */
export function seenNothing(how: ExchangeEnd["how"]): SeenReply {
  const failure: ProviderFailure =
    how === "client left"
      ? cancelledByCaller
      : { kind: "unreachable", detail: "the upstream gave no answer" };
  return failed(failure);
}

interface Taker extends EventReader {
  end(how: ExchangeEnd["how"]): SeenReply;
}

function takeRefusal({ protocol, status, headers, nowMs, limits }: ReplyHead): Taker {
  const body = collect(Math.min(limits.answerBytesMax, refusalBytesMax));
  return {
    feed: (bytes) => body.add(bytes),
    end: () => failed(protocol.readFailure({ status, headers, body: body.text(), nowMs: nowMs() })),
  };
}

/** Error bodies are short; a longer one is a page of a proxy. */
const refusalBytesMax = 1024 * 1024;

function takeAnswer(head: ReplyHead, notes: string[]): Taker {
  const { status } = head;
  if (status >= 300) {
    const failure = malformed(`the upstream answered with status ${status}`);
    return { feed: () => undefined, end: () => failed(failure) };
  }
  const form = streamFormOf(head);
  return form === undefined ? takeWhole(head) : takeStream(head, form, notes);
}

function streamFormOf({ protocol, headers }: ReplyHead): StreamForm | undefined {
  try {
    return findStreamForm(headers["content-type"], findEffects(protocol));
  } catch {
    // Without an event stream the answer is read as a whole.
    return findStreamForm(headers["content-type"], {});
  }
}

function takeWhole({ protocol, limits }: ReplyHead): Taker {
  const body = collect(limits.answerBytesMax);
  return {
    feed: (bytes) => body.add(bytes),
    end: (how) => {
      if (body.isTooLong()) {
        const note = `the answer is longer than ${limits.answerBytesMax} bytes and was not read`;
        return { ...unread, status: "partial", notes: [note] };
      }
      const decoded = protocol.decode(body.text());
      // Half an answer looks malformed, but the cut is the real cause.
      if (decoded.kind !== "reply") return failed(how === "complete" ? decoded : causeOf(how));
      return seenOf(decoded, how);
    },
  };
}

function takeStream({ protocol, limits }: ReplyHead, form: StreamForm, notes: string[]): Taker {
  const { stream, tellingEvents } = protocol;
  let state = stream.start;
  let [events, bytesRead, isFull] = [0, 0, false];
  const onSkipped = (): void => {
    notes.push(`an event is longer than ${limits.answerBytesMax} bytes and was not read`);
  };
  // Binary frames have to be parsed to see which event they are. Other events are parsed only if they matter.
  const isText = form === createEventReader;
  const open =
    isText && tellingEvents !== undefined
      ? createTellingReader(tellingEvents, limits.answerBytesMax, onSkipped)
      : form;
  const reader = open((event) => {
    const tells = events === 0 || (tellingEvents?.test(event.data) ?? true);
    events += 1;
    if (!tells || isFull) return;
    bytesRead += event.data.length;
    if (bytesRead > limits.answerBytesMax) {
      isFull = true;
      notes.push(
        `the stream says more than ${limits.answerBytesMax} bytes and was not read to its end`,
      );
      return;
    }
    [state] = stream.step(state, event);
  });
  return {
    feed: (bytes) => reader.feed(bytes),
    end: (how) => {
      const finished = stream.finish(state);
      if (finished.kind !== "reply") {
        const isOwn = how === "complete" && events > 0;
        return failed(isOwn || finished.kind !== "malformed" ? finished : causeOf(how));
      }
      return seenOf(finished, how);
    },
  };
}

function causeOf(how: ExchangeEnd["how"]): ProviderFailure {
  return how === "client left" ? cancelledByCaller : endedEarly;
}

function seenOf(reply: Reply, how: ExchangeEnd["how"]): SeenReply {
  const { id, usage, stopReason, servedBy, transformations } = reply;
  const isWhole = reply.status === "complete";
  const failure = reply.failure ?? (isWhole ? null : causeOf(how));
  const cut = isWhole || reply.failure !== undefined ? [] : [cutNote(usage)];
  return {
    status: isWhole && failure === null ? "complete" : "partial",
    stopReason: isWhole ? stopReason : null,
    failure,
    replyId: id,
    servedBy: servedBy ?? null,
    ...(reply.diagnosis === undefined ? {} : { diagnosis: reply.diagnosis }),
    reported: usage.isReported ? usage : null,
    notes: [...cut, ...usage.warnings, ...transformations, ...refusedCounts(usage)],
  };
}

function cutNote({ isReported }: ReportedUsage): string {
  return isReported
    ? "the stream ended early: output after the last report is billed and not known"
    : "the stream ended before the provider said what it billed";
}

function refusedCounts({ refused }: ReportedUsage): readonly string[] {
  return refused === undefined ? [] : [`counts that cannot be true were left out: ${refused}`];
}

const unread: Omit<SeenReply, "status"> = {
  stopReason: null,
  failure: null,
  replyId: "",
  servedBy: null,
  reported: null,
  notes: [],
};

function failed(failure: ProviderFailure): SeenReply {
  return { ...unread, status: "failed", failure };
}

/** Servers repeat keys and prompts in their errors. */
function cleaned(failure: ProviderFailure | null): ProviderFailure | null {
  return failure === null ? null : { ...failure, detail: redact(failure.detail) };
}

interface Collected {
  add(bytes: Uint8Array): void;
  isTooLong(): boolean;
  text(): string;
}

/** The first bytes of a body, as text. */
function collect(bytesMax: number): Collected {
  const pieces: Uint8Array[] = [];
  let byteLength = 0;
  return {
    add: (bytes) => {
      const room = bytesMax - byteLength;
      byteLength += bytes.byteLength;
      if (room > 0) pieces.push(bytes.subarray(0, room));
    },
    isTooLong: () => byteLength > bytesMax,
    text: () => Buffer.concat(pieces).toString("utf8"),
  };
}
