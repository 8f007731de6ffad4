// A server that speaks Parley, and what its transport needs besides a POST with a key.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { WireEffects } from "../../src/edge/providers/wire-effects.ts";

/** The body's hash as a signature, and a line for each event. */
export const parleyEffects: WireEffects = {
  sign: ({ path, pieces }) => {
    const hash = createHash("sha256").update(path);
    for (const piece of pieces) hash.update(piece);
    return Promise.resolve({ "x-parley-signature": hash.digest("hex") });
  },
  findStreamForm: (contentType) =>
    contentType !== "application/x-parley-lines"
      ? undefined
      : (onEvent) => {
          const decoder = new TextDecoder();
          let waiting = "";
          return {
            feed: (bytes) => {
              const lines = (waiting + decoder.decode(bytes, { stream: true })).split("\n");
              waiting = lines.pop() ?? "";
              for (const data of lines) onEvent({ event: undefined, data });
            },
          };
        },
};

export interface SeenPost {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface ParleyServer {
  readonly url: string;
  readonly seen: readonly SeenPost[];
  close(): void;
}

export async function serveParley(): Promise<ParleyServer> {
  const seen: SeenPost[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece: Buffer) => (body += piece.toString()));
    request.on("end", () => {
      const { url = "", headers } = request;
      seen.push({ url, headers, body });
      answer({ url, headers, body }, response);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, seen, close: () => server.close() };
}

function answer({ url, headers, body }: SeenPost, response: ServerResponse): void {
  const signature = createHash("sha256").update(url).update(body).digest("hex");
  if (headers["x-parley-signature"] !== signature) {
    response.writeHead(403).end("not signed");
  } else if (url.endsWith(":count")) {
    response.end('{"asked":7}');
  } else {
    response.writeHead(200, { "content-type": "application/x-parley-lines" });
    response.write('{"say":"Good "}\n{"say":"mor');
    response.end('ning."}\n{"tokens":{"asked":12,"kept":5,"said":3}}\n');
  }
}
