// A relay that notes what passes as hashes. One before the gateway and one behind it show whether a byte was changed between.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { finished } from "node:stream";
import { withoutMarkers } from "./without-markers.ts";

/** One request and its answer, as far as they came. */
export interface Passed {
  readonly line: string;
  /** As sent, one per line, without those that are about one connection only. */
  readonly requestHeaders: string;
  readonly userAgent: string;
  readonly requestBody: string;
  /** The body itself, to be billed again. */
  readonly sent: SentRequest;
  readonly status: number | null;
  readonly answerBody: string;
  /** False if one side left before the end: the halves that arrived may then differ. */
  readonly isComplete: boolean;
}

export interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
  /** Milliseconds since 1970. */
  readonly startMs: number;
}

export interface Tap {
  readonly url: string;
  readonly passed: readonly Passed[];
  close(): Promise<void>;
}

export async function openTap(target: string): Promise<Tap> {
  const passed: Passed[] = [];
  const server = createServer({ maxHeaderSize: 262_144 }, (incoming, outgoing) => {
    relay(target, incoming, outgoing, (each) => passed.push(each));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    passed,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function relay(
  target: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  note: (passed: Passed) => void,
): void {
  const startMs = Date.now();
  const answered = createHash("sha256");
  const asked: Buffer[] = [];
  const { method = "", url = "", rawHeaders } = incoming;
  const { host } = new URL(target);
  const headers = [...withoutConnection(rawHeaders), "host", host];
  const onward = request(`${target}${url}`, { method, headers });
  let status: number | null = null;
  onward.on("response", (answer) => {
    status = answer.statusCode ?? null;
    outgoing.writeHead(status ?? 502, answer.statusMessage, withoutConnection(answer.rawHeaders));
    answer.on("data", (bytes: Uint8Array) => answered.update(bytes));
    answer.on("aborted", () => outgoing.destroy());
    answer.pipe(outgoing);
  });
  onward.on("error", () => outgoing.destroy());
  incoming.on("data", (bytes: Buffer) => asked.push(bytes));
  incoming.pipe(onward);
  finished(outgoing, (error) => {
    onward.destroy();
    const body = Buffer.concat(asked);
    note({
      line: `${method} ${url}`,
      requestHeaders: linesOf(rawHeaders),
      userAgent: incoming.headers["user-agent"] ?? "",
      requestBody: createHash("sha256").update(body).digest("hex"),
      sent: { method, path: url, headers: pairsOf(rawHeaders), body, startMs },
      status,
      answerBody: answered.digest("hex"),
      isComplete: error == null && incoming.complete,
    });
  });
}

/** Headers that are about one connection only, which every relay writes itself. */
const ofConnection =
  /^(?:host|connection|keep-alive|transfer-encoding|te|trailer|upgrade|proxy-.*)$/i;

function withoutConnection(raw: readonly string[]): string[] {
  return raw.filter((_, index) => !ofConnection.test(raw[index - (index % 2)] ?? ""));
}

/** Without the length: the gateway writes it last and in lower case, and a wrong one would break the body. */
function linesOf(raw: readonly string[]): string {
  return pairsOf(raw)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");
}

function pairsOf(raw: readonly string[]): readonly (readonly [string, string])[] {
  const passed = withoutConnection(raw);
  return passed
    .flatMap((name, index) => (index % 2 === 0 ? [[name, passed[index + 1] ?? ""] as const] : []))
    .filter(([name]) => name.toLowerCase() !== "content-length");
}

export interface Sameness {
  readonly equal: number;
  /** What of which exchange, such as `headers of POST /v1/messages`. */
  readonly different: readonly string[];
  /** One side left before the end: the halves that arrived may then differ. */
  readonly brokenOff: number;
}

type Parts = Readonly<Record<string, (passed: Passed) => string>>;

const bytes = {
  headers: ({ requestHeaders }) => requestHeaders,
  body: ({ requestBody }) => requestBody,
  status: ({ status }) => String(status),
  answer: ({ answerBody }) => answerBody,
} as const satisfies Parts;

/** Where markers may be placed, bodies are the same if they are without their markers. */
const bytesButMarkers: Parts = { ...bytes, body: ({ sent }) => withoutMarkers(sent.body) };

/** Requests run beside each other, so each is compared with the one on the other side that is most like it. */
export function compareTaps(
  before: readonly Passed[],
  behind: readonly Passed[],
  mayMark: boolean,
): Sameness {
  const parts = mayMark ? bytesButMarkers : bytes;
  const rest = behind.filter(({ isComplete }) => isComplete);
  const sent = before.filter(({ isComplete }) => isComplete);
  const different: string[] = [];
  let equal = 0;
  for (const each of sent) {
    const [found] = rest
      .filter(({ line }) => line === each.line)
      .map((other) => ({ other, differing: differingParts(parts, each, other) }))
      .toSorted((left, right) => left.differing.length - right.differing.length);
    if (found === undefined) {
      different.push(`all of ${each.line}: it did not arrive`);
      continue;
    }
    rest.splice(rest.indexOf(found.other), 1);
    if (found.differing.length === 0) equal += 1;
    else different.push(`${found.differing.join(" and ")} of ${each.line}`);
  }
  return {
    equal,
    different: [...different, ...rest.map(({ line }) => `all of ${line}: it was not sent`)],
    brokenOff: before.length - sent.length,
  };
}

function differingParts(parts: Parts, one: Passed, other: Passed): readonly string[] {
  return Object.entries(parts).flatMap(([name, part]) => (part(one) === part(other) ? [] : [name]));
}
