// A provider over HTTP that answers with hostile bytes, and repeats the key it was sent.
import { createServer, type Server, type Socket } from "node:net";
import { once } from "node:events";
import { plantedKey } from "../../../harness/planted-key.ts";
import type { Random } from "../../../harness/random-message.ts";
import { toRequest } from "../../../src/core/wire/encoded-request.ts";
import { createProvider, type Provider } from "../../../src/edge/providers/provider.ts";
import type { OpenDoor, Outcome } from "../door.ts";
import { mutateBytes, mutateJson, mutateText, oddText, pick, size } from "../mutate.ts";
import { eventText, judgeReply, replySamples, type ReplySample } from "./replies.ts";

export async function open(): Promise<OpenDoor> {
  const all = await replySamples();
  let next: readonly Buffer[] = [];
  const server = createServer((socket) => answerOnce(socket, () => next));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const providers = all.map((sample) => ({ sample, provider: reach(sample, portOf(server)) }));
  return {
    attempt: async (random) => {
      const { sample, provider } = pick(random, providers);
      next = makeAnswer(random, sample);
      return send(provider, sample, random() < 0.5);
    },
    close: async () => {
      await Promise.all(providers.map(({ provider }) => provider.close()));
      server.close();
    },
  };
}

function reach({ wire }: ReplySample, port: number): Provider {
  return createProvider({
    protocol: wire,
    baseUrl: `http://127.0.0.1:${port}`,
    credentials: { "x-api-key": plantedKey, authorization: `Bearer ${plantedKey}` },
    retries: { attemptsMax: 1 },
    timeouts: { totalMs: 900 },
    bodyBytesMax: 1_000_000,
  });
}

async function send(
  provider: Provider,
  { protocol }: ReplySample,
  stream: boolean,
): Promise<Outcome> {
  const request = toRequest({ path: protocol.path, parts: [JSON.stringify(protocol.request)] });
  const { outcome, attempts, headers } = await provider.send({ request, stream });
  const judged = judgeReply(outcome);
  const failures = attempts.flatMap(({ failure }) => (failure === null ? [] : [failure]));
  const seen = [...failures, ...(outcome.kind === "reply" ? [] : [outcome])];
  return { ...judged, outputs: [...judged.outputs, JSON.stringify(seen), JSON.stringify(headers)] };
}

/** Reads the request to its end, then writes the pieces and ends the connection. */
function answerOnce(socket: Socket, answer: () => readonly Buffer[]): void {
  let seen = "";
  socket.on("error", () => {});
  socket.on("data", (bytes) => {
    seen += bytes.toString("latin1");
    const [head = "", sent] = seen.split("\r\n\r\n");
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (sent === undefined || sent.length < length) return;
    seen = "";
    for (const piece of answer()) socket.write(piece);
    socket.end();
  });
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return address.port;
}

function makeAnswer(random: Random, sample: ReplySample): readonly Buffer[] {
  const isStream = random() < 0.5;
  const bytes = makeBody(random, sample, isStream);
  const head = Buffer.from(makeHead(random, isStream, bytes.length), "latin1");
  const step = size(random, Math.max(1, bytes.length));
  const pieces: Buffer[] = [head];
  for (let at = 0; at < bytes.length && pieces.length < 50; at += step) {
    pieces.push(bytes.subarray(at, pieces.length === 49 ? bytes.length : at + step));
  }
  return pieces;
}

/** A repeated key stays whole: pieces of it could be anything. */
function makeBody(random: Random, sample: ReplySample, isStream: boolean): Buffer {
  if (random() < 0.1) return Buffer.from(refusal(random));
  const text = isStream ? eventText(random, sample) : body(random, sample);
  return Buffer.from(random() < 0.2 ? mutateBytes(random, Buffer.from(text)) : text);
}

function body(random: Random, { reply, known }: ReplySample): string {
  return random() < 0.7
    ? mutateJson(random, reply, known)
    : mutateText(random, JSON.stringify(reply));
}

/** As providers do it for a wrong key. */
function refusal(random: Random): string {
  const message = `the key ${plantedKey} is not valid ${oddText(random)}`;
  return pick(random, [
    JSON.stringify({ type: "error", error: { type: "authentication_error", message } }),
    JSON.stringify({ error: { message, type: "invalid_request_error", code: plantedKey } }),
    JSON.stringify({ error: message }),
    message,
  ]);
}

function makeHead(random: Random, isStream: boolean, length: number): string {
  const status = pick(random, [
    "200 OK",
    "200 OK",
    "200 OK",
    "400 Bad",
    "401 No",
    "429 Slow",
    "500 Oops",
    "204 None",
    "999 X",
    "abc",
  ]);
  const type =
    random() < 0.9
      ? isStream
        ? "text/event-stream"
        : "application/json"
      : oneLine(oddText(random));
  const lines = [
    `HTTP/1.1 ${status}`,
    `content-type: ${type}`,
    ...(random() < 0.5
      ? [`content-length: ${random() < 0.9 ? length : pick(random, [0, length + 5, -1, 1e21])}`]
      : []),
    ...(random() < 0.1 ? [`retry-after: ${oneLine(oddText(random))}`] : []),
    ...(random() < 0.1 ? [`x-echo: ${plantedKey}`] : []),
    ...(random() < 0.05 ? [`x-${oneLine(oddText(random))}: 1`] : []),
    ...(random() < 0.05 ? ["content-encoding: gzip"] : []),
    "connection: close",
  ];
  return `${lines.join("\r\n")}\r\n\r\n`;
}

/** Without line breaks, as a header has it. */
function oneLine(text: string): string {
  return text.replace(/[\r\n]/g, " ").slice(0, 2000);
}
