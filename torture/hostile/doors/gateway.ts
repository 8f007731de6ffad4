// The gateway before a server that takes everything: requests of clients with keys, mutated, over a real socket.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { plantedKey, plantedOpenaiKey, plantedToken } from "../../../harness/planted-key.ts";
import type { Random } from "../../../harness/random-message.ts";
import { hashKey } from "../../../src/gateway/admission/gateway-key.ts";
import { openGateway, type Gateway } from "../../../src/gateway/open-gateway.ts";
import { toUpstreamTable } from "../../../src/gateway/upstreams/configured.ts";
import type { OpenDoor, Outcome } from "../door.ts";
import {
  keysIn,
  mutateBytes,
  mutateJson,
  mutateText,
  oddJson,
  oddText,
  pick,
  type Json,
} from "../mutate.ts";
import { sampleProtocols } from "../samples.ts";

interface Behind {
  readonly server: Server;
  readonly url: string;
  /** Requests that brought a client's key. */
  readonly leaks: string[];
}

async function openBehind(): Promise<Behind> {
  const leaks: string[] = [];
  const server = createServer((incoming, outgoing) => {
    const text = `${incoming.url}\n${incoming.rawHeaders.join("\n")}`;
    if (text.includes(plantedKey) || text.includes(plantedOpenaiKey)) leaks.push(text);
    incoming.on("error", () => {}).resume();
    outgoing.writeHead(200, { "content-type": "application/json" }).end('{"ok":true}');
  });
  server.on("clientError", (_error, socket) => socket.destroy());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { server, url: `http://127.0.0.1:${port}`, leaks };
}

const upstreams = ["anthropic", "openai", "google"];

function open(folder: string, { url }: Behind, onFault: (fault: string) => void): Promise<Gateway> {
  const config = { baseUrl: url, protocol: null, headers: new Map<string, string>() };
  return openGateway({
    store: join(folder, "ledger.db"),
    env: {},
    table: toUpstreamTable(new Map(upstreams.map((name) => [name, config]))),
    keys: {
      keys: [
        {
          name: "ana",
          sha256: hashKey(plantedKey),
          models: ["claude-sonnet-5-5", "gpt-5.5", "gemini-3.8-flash"],
          budget: { day: 10n ** 18n },
        },
        { name: "ben", sha256: hashKey(plantedOpenaiKey), otherRequests: true },
      ],
      upstreamKeys: new Map(upstreams.map((name) => [name, `sk-up-${plantedToken}`])),
    },
    bodyBytesMax: 1_000_000,
    onProblem: (problem) => {
      if (problem.includes("was not recorded")) onFault(problem);
    },
  });
}

export async function openSocket(folder: string): Promise<OpenDoor> {
  const faults: string[] = [];
  const behind = await openBehind();
  const gateway = await open(folder, behind, (fault) => faults.push(fault));
  return {
    attempt: async (random) => {
      const text = makeRequest(random);
      const bytes = random() < 0.3 ? mutateBytes(random, Buffer.from(text)) : Buffer.from(text);
      const answer = await exchange(gateway.port, bytes);
      return judge(answer, [...behind.leaks.splice(0), ...faults.splice(0)]);
    },
    close: async () => {
      await gateway.close(0);
      behind.server.close();
      behind.server.closeAllConnections();
    },
  };
}

function makeRequest(random: Random): string {
  const { path, request } = pick(random, samples);
  const body = makeBody(random, request);
  const place = random() < 0.7 ? path : mutateText(random, path).replace(/[\r\n]/g, "");
  const key = pick(random, [plantedKey, plantedKey, plantedOpenaiKey, "none"]);
  const odd = oddText(random).slice(0, 2000);
  const lines = [
    `${random() < 0.9 ? "POST" : pick(random, ["GET", "HEAD", "PUT", "CONNECT", odd])} ${place} HTTP/1.1`,
    "host: 127.0.0.1",
    "connection: close",
    "content-type: application/json",
    "anthropic-version: 2023-06-01",
    pick(random, [`x-api-key: ${key}`, `authorization: Bearer ${key}`, `x-goog-api-key: ${key}`]),
    ...(random() < 0.1 ? [`content-encoding: ${pick(random, ["gzip", "br", odd])}`] : []),
    ...(random() < 0.05 ? [`x-${"a".repeat(random() * 70_000)}: ${odd}`] : []),
    ...(random() < 0.03 ? ["a:\r\n".repeat(random() * 6000).trimEnd()] : []),
    ...(random() < 0.05 ? ["transfer-encoding: chunked"] : []),
    ...(random() < 0.95 ? [`content-length: ${Buffer.byteLength(body)}`] : []),
  ];
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}

const samples: readonly { readonly path: string; readonly request: Json }[] = [
  ...sampleProtocols.map(({ path, request }) => ({ path, request })),
  { path: "/v1beta/models/gemini-3.8-flash:generateContent", request: { contents: [] } },
  { path: "/anthropic/v1/messages?beta=true", request: sampleProtocols[0]?.request ?? null },
  { path: "/openai/v1/files", request: {} },
  { path: "/strata/health", request: null },
];

function makeBody(random: Random, request: Json): string {
  const kind = random();
  if (kind < 0.35) return JSON.stringify(request);
  if (kind < 0.75) return mutateJson(random, request, keysIn(request));
  if (kind < 0.9) return mutateText(random, JSON.stringify(request));
  return oddJson(random);
}

/** Everything the gateway says until it ends the connection, or until it waits for more. */
function exchange(port: number, bytes: Uint8Array): Promise<string> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    const socket = connect(port, "127.0.0.1");
    const end = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(Buffer.concat(pieces).toString());
    };
    // A broken request may promise a body that never comes.
    const timer = setTimeout(end, 150);
    socket
      .on("data", (piece) => pieces.push(piece))
      .on("end", end)
      .on("error", end);
    // A half-closed connection is one that the client left.
    socket.write(bytes);
  });
}

/** A key that went on, and a mistake that was caught, are told as outputs and as a mistake. */
function judge(answer: string, seen: readonly string[]): Outcome {
  const outputs = [answer, ...seen];
  const mistakes = seen.map(() => ({ code: "500", hint: "a mistake of Strata" }));
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? Number.NaN);
  if (status < 400) return { isAccepted: true, outputs, refusals: mistakes };
  const code = /^x-strata-error: (\S+)/im.exec(answer)?.[1];
  if (code === undefined) return { isAccepted: false, outputs, refusals: mistakes };
  const hint = /"message":"((?:[^"\\]|\\.)*)"/.exec(answer)?.[1];
  const own = code === "internal" ? [{ code, hint: "a mistake of Strata" }] : [];
  // A HEAD request gets no body.
  const told = answer.endsWith("\r\n\r\n") ? [] : [{ code, hint }];
  return { isAccepted: false, outputs, refusals: [...told, ...own, ...mistakes] };
}
