// A server that answers each request as its plan says, and notes what arrived.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Plan } from "./plan.ts";

export interface PlayedUpstream {
  readonly url: string;
  /** What arrived otherwise than it was sent, or should not have arrived. */
  readonly problems: readonly string[];
  /** Numbers of the requests that arrived whole. */
  readonly arrived: ReadonlySet<number>;
  /** Connections from the gateway that are still open. */
  connections(): number;
  close(): Promise<void>;
}

/** `planOf`: the plan of a number; undefined for what no client may send through. */
export async function openUpstream(
  planOf: (number: number) => Plan | undefined,
): Promise<PlayedUpstream> {
  const [problems, arrived]: [string[], Set<number>] = [[], new Set()];
  const sockets = new Set<Socket>();
  const onRequest = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const { searchParams } = new URL(incoming.url ?? "", "http://upstream");
    const plan = planOf(Number(searchParams.get("n") ?? NaN));
    if (plan === undefined) {
      problems.push(`a smuggled request arrived: ${incoming.method} ${incoming.url}`);
      outgoing.writeHead(500).end();
      return;
    }
    const pieces: Buffer[] = [];
    incoming.on("data", (piece: Buffer) => pieces.push(piece));
    if (plan.upstream === "early refusal") play(plan, incoming, outgoing);
    incoming.on("end", () => {
      arrived.add(plan.number);
      const whole = Buffer.concat(pieces);
      if (!whole.equals(plan.body)) {
        problems.push(`request ${plan.number} arrived with ${whole.length} other bytes`);
      }
      if (plan.upstream !== "early refusal") play(plan, incoming, outgoing);
    });
    incoming.on("error", () => {});
  };
  const server = createServer({ keepAliveTimeout: 600_000 }, onRequest);
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  });
  server.on("clientError", (_error, socket) => void socket.destroy());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    problems,
    arrived,
    connections: () => sockets.size,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function play(plan: Plan, { socket }: IncomingMessage, outgoing: ServerResponse): void {
  const { upstream, answer, cutAt, pieceBytes } = plan;
  const part = answer.body.subarray(0, Math.floor(answer.body.length * cutAt));
  outgoing.on("error", () => {});
  switch (upstream) {
    case "silent":
      return;
    case "closed":
      return void socket.destroy();
    case "garbage":
      socket.write(Buffer.from(answer.body.map((byte) => (byte * 7 + 128) % 256)));
      return void socket.end();
    case "cut head": {
      const head = headOf(plan, "content-length: 9");
      return void socket.end(head.slice(0, Math.floor((head.length - 1) * cutAt)));
    }
    case "endless headers":
      return sendHeaders(socket);
    case "cut body":
      socket.write(headOf(plan, `content-length: ${answer.body.length + 1}`));
      return void socket.end(part);
    case "stall":
      socket.write(headOf(plan, `content-length: ${answer.body.length + 1}`));
      return void socket.write(part);
    case "cut chunks":
    case "bad chunk": {
      socket.write(headOf(plan, "transfer-encoding: chunked"));
      const size = part.length.toString(16);
      if (part.length > 0) socket.write(Buffer.concat([Buffer.from(`${size}\r\n`), part, crlf]));
      return void socket.end(upstream === "bad chunk" ? "-zz\r\n" : "ff\r\n");
    }
    case "early hints":
      for (let hint = 0; hint < 3; hint += 1)
        outgoing.writeEarlyHints({ link: `<${hint}>; rel=x` });
      break;
    case "events":
    case "JSON":
    case "packed events":
    case "refusal":
    case "no content":
    case "gzip bomb":
    case "early refusal":
  }
  outgoing.writeHead(answer.status, answer.headers.flat());
  for (let at = 0; at < answer.body.length; at += Math.max(pieceBytes, 50)) {
    outgoing.write(answer.body.subarray(at, at + Math.max(pieceBytes, 50)));
  }
  outgoing.end();
}

const crlf: Buffer = Buffer.from("\r\n");

function headOf({ answer }: Plan, framing: string): string {
  const lines = answer.headers.map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${answer.status} OK`, ...lines, framing, "", ""].join("\r\n");
}

/** Until the other side has enough of it. */
function sendHeaders(socket: Socket): void {
  socket.write("HTTP/1.1 200 OK\r\n");
  const line = `x-more: ${"y".repeat(4000)}\r\n`;
  const more = (): void => {
    while (!socket.destroyed && socket.write(line));
  };
  socket.on("drain", more);
  more();
}
