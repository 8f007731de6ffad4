// A client of bare bytes: it sends a request as its plan says, and reads what comes back.
import { connect, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import type { Plan } from "./plan.ts";

export interface SeenAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
  /** Whether its end came as its framing says. */
  readonly isWhole: boolean;
}

export interface Heard {
  /** In the order of the requests; fewer if the connection ended. */
  readonly answers: readonly SeenAnswer[];
  /** No end within the patience. */
  readonly isHanging: boolean;
}

/** Far more than any answer takes; only a gateway that hangs is waited for so long. */
const patienceMs = 30_000;

/** `second`: what a pipelined request is followed by. */
export async function speak(port: number, plan: Plan, second: Plan | null): Promise<Heard> {
  const socket = connect(port, "127.0.0.1");
  const reader = openReader(socket);
  socket.on("error", () => {});
  try {
    const expected = second === null ? 1 : 2;
    await send(socket, plan, second);
    const isLeaving =
      plan.upstream === "stall" || plan.client === "leaves in the answer" ? stopAfter(plan) : null;
    const isHanging = await reader.until(
      (bytes) =>
        (isLeaving !== null && bytes.length >= isLeaving) || answersIn(bytes, expected) >= expected,
    );
    return { answers: reader.answers(), isHanging };
  } finally {
    socket.destroy();
  }
}

/** How many bytes of an answer a client reads before it leaves. */
function stopAfter({ upstream, answer, cutAt }: Plan): number {
  // Of an answer that stalls there comes no more than this.
  const body = Math.floor(answer.body.length * cutAt);
  return upstream === "stall" ? Math.max(1, body) : 1 + Math.floor(body / 2);
}

async function send(socket: Socket, plan: Plan, second: Plan | null): Promise<void> {
  const { client, cutAt } = plan;
  const bytes = requestOf(plan);
  const part = bytes.subarray(0, Math.floor((bytes.length - 1) * cutAt));
  switch (client) {
    case "leaves in the request":
      await write(socket, part);
      return void socket.destroy();
    case "half a body":
      return void socket.end(part);
    case "slow":
      for (let at = 0; at < bytes.length; at += Math.max(plan.pieceBytes, 40)) {
        await write(socket, bytes.subarray(at, at + Math.max(plan.pieceBytes, 40)));
      }
      return;
    case "pipelined":
      return write(socket, second === null ? bytes : Buffer.concat([bytes, requestOf(second)]));
    case "whole":
    case "chunked":
    case "large":
    case "leaves in the answer":
    case "smuggles":
      return write(socket, bytes);
  }
}

/** Resolves when the bytes are on their way, or the connection is over. */
async function write(socket: Socket, bytes: Buffer): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.once("close", resolve);
  socket.write(bytes, () => resolve());
  await promise;
  socket.off("close", resolve);
}

/** Without its body and the headers that say how long it is. */
function headOf(plan: Plan, framing: readonly string[]): string {
  return [
    `POST /up/v1/messages?n=${plan.number} HTTP/1.1`,
    "host: localhost",
    "content-type: application/json",
    `x-claude-code-session-id: n-${plan.number}`,
    ...framing,
    "",
    "",
  ].join("\r\n");
}

function requestOf(plan: Plan): Buffer {
  const { body, client } = plan;
  if (client === "smuggles") return smuggling(plan);
  if (client !== "chunked") {
    return Buffer.concat([Buffer.from(headOf(plan, [`content-length: ${body.length}`])), body]);
  }
  const step = Math.max(plan.pieceBytes, 30);
  const pieces: Buffer[] = [Buffer.from(headOf(plan, ["transfer-encoding: chunked"]))];
  for (let at = 0; at < body.length; at += step) {
    const piece = body.subarray(at, at + step);
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n"));
  }
  return Buffer.concat([...pieces, Buffer.from("0\r\n\r\n")]);
}

/** Requests that two servers may read differently. The second request within must arrive nowhere. */
function smuggling(plan: Plan): Buffer {
  const inner =
    "POST /up/v1/messages?n=smuggled HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n";
  const chunked = "transfer-encoding: chunked";
  const forms: readonly (readonly [framing: readonly string[], body: string])[] = [
    [["content-length: 5", chunked], `0\r\n\r\n${inner}`],
    [[chunked, "content-length: 5"], `0\r\n\r\n${inner}`],
    [["content-length: 0", `content-length: ${inner.length}`], inner],
    [[`content-length: 0, ${inner.length}`], inner],
    [["content-length: +5"], `01234${inner}`],
    [[" content-length: 5"], `01234${inner}`],
    [["content-length : 5"], `01234${inner}`],
    [["transfer-encoding: chunked, identity"], `0\r\n\r\n${inner}`],
    [["transfer-encoding: xchunked"], `0\r\n\r\n${inner}`],
    [["transfer-encoding: gzip, chunked"], `0\r\n\r\n${inner}`],
    [["transfer-encoding:\u000bchunked"], `0\r\n\r\n${inner}`],
    [[chunked], `-1\r\n${inner}`],
    [[chunked], `5;${"x".repeat(20_000)}\r\n01234\r\n0\r\n${inner}`],
    [[chunked], `0x5\r\n01234\r\n0\r\n\r\n${inner}`],
    [["x: 1\ncontent-length: 5"], `01234${inner}`],
    [["x: 1\rcontent-length: 5"], `01234${inner}`],
    [["x: \u0000", "content-length: 0"], inner],
  ];
  const [framing, body] = forms[Math.floor(plan.cutAt * forms.length)] ?? [[], ""];
  return Buffer.from(headOf(plan, framing) + body, "latin1");
}

interface Reader {
  /** Until it is enough or the connection is over; true if neither came. */
  until(isEnough: (bytes: Buffer) => boolean): Promise<boolean>;
  answers(): readonly SeenAnswer[];
}

function openReader(socket: Socket): Reader {
  let bytes: Buffer = Buffer.alloc(0);
  let isOver = false;
  let wake: (() => void) | null = null;
  socket.on("data", (more: Buffer) => {
    bytes = Buffer.concat([bytes, more]);
    wake?.();
  });
  socket.on("close", () => {
    isOver = true;
    wake?.();
  });
  return {
    until: async (isEnough) => {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      wake = () => {
        if (isOver || isEnough(bytes)) resolve(false);
      };
      wake();
      const patience = new AbortController();
      const late = wait(patienceMs, true, { signal: patience.signal }).catch(() => false);
      const isHanging = await Promise.race([promise, late]);
      patience.abort();
      return isHanging;
    },
    answers: () => readAnswers(bytes),
  };
}

function answersIn(bytes: Buffer, wanted: number): number {
  // Most pieces of a long answer are no end.
  const answers = readAnswers(bytes);
  return answers.filter(({ isWhole }) => isWhole).length >= wanted ? wanted : 0;
}

function readAnswers(bytes: Buffer): readonly SeenAnswer[] {
  const answers: SeenAnswer[] = [];
  for (let at = 0; at < bytes.length;) {
    const headEnd = bytes.indexOf("\r\n\r\n", at);
    if (headEnd === -1) return answers;
    const [first = "", ...lines] = bytes.toString("latin1", at, headEnd).split("\r\n");
    const status = Number(first.split(" ")[1]);
    const headers = new Map(
      lines.map((line) => {
        const colon = line.indexOf(":");
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
      }),
    );
    const { body, end } = readBody(bytes, headEnd + 4, status, headers);
    answers.push({ status, headers, body, isWhole: end !== null });
    if (end === null) return answers;
    at = end;
  }
  return answers;
}

interface ReadBody {
  readonly body: Buffer;
  /** Null if more must come. */
  readonly end: number | null;
}

function readBody(
  bytes: Buffer,
  from: number,
  status: number,
  headers: ReadonlyMap<string, string>,
): ReadBody {
  if (status === 204 || status === 304) return { body: Buffer.alloc(0), end: from };
  if (headers.get("transfer-encoding") !== "chunked") {
    const end = from + Number(headers.get("content-length") ?? Infinity);
    return { body: bytes.subarray(from, end), end: end <= bytes.length ? end : null };
  }
  const pieces: Buffer[] = [];
  for (let at = from; ;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd === -1) return { body: Buffer.concat(pieces), end: null };
    const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    const start = lineEnd + 2;
    pieces.push(bytes.subarray(start, start + size));
    at = start + size + 2;
    if (at > bytes.length) return { body: Buffer.concat(pieces), end: null };
    if (size === 0) return { body: Buffer.concat(pieces), end: at };
  }
}
