// The simulator's API: requests of all protocols and control routes, without a socket and over HTTP.
import { connect } from "node:net";
import { plantedKey } from "../../../harness/planted-key.ts";
import type { Random } from "../../../harness/random-message.ts";
import { createSimulator, type Simulator } from "../../../src/simulator/index.ts";
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
import { sampleHeaders, sampleProtocols } from "../samples.ts";

const create = (): Simulator =>
  createSimulator({
    seed: 1,
    clock: "virtual",
    control: true,
    callsMax: 100,
    bodyBytesMax: 1_000_000,
  });

interface Call {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export function openCalls(): OpenDoor {
  let simulator = create();
  return {
    reset: () => {
      simulator = create();
    },
    attempt: async (random) => {
      const { method, path, headers, body } = makeCall(random);
      const request = toRequest(`http://127.0.0.1${path}`, method, headers, body);
      if (request === null) return { isAccepted: false, outputs: [] };
      const answer = await simulator.fetch(request);
      return judge(answer.status, await answer.text().catch(() => null));
    },
  };
}

/** Null for what cannot be sent at all. */
function toRequest(
  url: string,
  method: string,
  headers: Call["headers"],
  body: string | null,
): Request | null {
  try {
    return new Request(url, { method, headers, ...(body === null ? {} : { body }) });
  } catch {
    return null;
  }
}

export async function openServer(): Promise<OpenDoor> {
  let simulator = create();
  let server = await simulator.listen({ port: 0 });
  return {
    reset: async () => {
      await server.close();
      simulator = create();
      server = await simulator.listen({ port: 0 });
    },
    attempt: async (random) => {
      const call = makeCall(random);
      const text = toText(call);
      const bytes = random() < 0.15 ? mutateBytes(random, Buffer.from(text)) : Buffer.from(text);
      const answer = await exchange(server.port, bytes);
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? Number.NaN);
      if (Number.isNaN(status)) return { isAccepted: false, outputs: [answer] };
      const judged = judge(status, bodyOf(answer));
      return { ...judged, outputs: [...judged.outputs, answer] };
    },
    close: () => server.close(),
  };
}

function toText({ method, path, headers, body }: Call): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const length = body === null ? [] : [`content-length: ${Buffer.byteLength(body)}`];
  const head = [
    `${method} ${path} HTTP/1.1`,
    "host: 127.0.0.1",
    "connection: close",
    ...lines,
    ...length,
  ];
  return `${head.join("\r\n")}\r\n\r\n${body ?? ""}`;
}

/** Everything the server says until it ends the connection, or until it waits for more. */
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
    const timer = setTimeout(end, 400);
    socket
      .on("data", (piece) => pieces.push(piece))
      .on("end", end)
      .on("error", end);
    socket.end(bytes);
  });
}

const gemini = "/v1beta/models/gemini-3.8-flash";
const geminiRequest: Json = {
  systemInstruction: { parts: [{ text: "Be brief. ".repeat(40) }] },
  contents: [
    { role: "user", parts: [{ text: "What is here?" }] },
    {
      role: "model",
      parts: [
        {
          functionCall: { id: "c1", name: "read", args: { path: "a.ts", "2": 0, "1": 1.5 } },
          thoughtSignature: "skip_thought_signature_validator",
        },
      ],
    },
    {
      role: "user",
      parts: [
        { functionResponse: { id: "c1", name: "read", response: { output: "one" } } },
        { inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } },
      ],
    },
  ],
  tools: [
    {
      functionDeclarations: [
        { name: "read", parameters: { type: "OBJECT", properties: { path: { type: "STRING" } } } },
      ],
    },
  ],
  toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["read"] } },
  generationConfig: { maxOutputTokens: 200, thinkingConfig: { thinkingBudget: 100 } },
};
const storedRequest: Json = {
  model: "models/gemini-3.8-flash",
  systemInstruction: { parts: [{ text: "Be brief. ".repeat(3_000) }] },
  displayName: "notes",
  ttl: "300s",
};
const geminiSamples: readonly { readonly path: string; readonly request: Json }[] = [
  { path: `${gemini}:generateContent`, request: geminiRequest },
  { path: `${gemini}:streamGenerateContent?alt=sse`, request: geminiRequest },
  { path: "/v1beta/cachedContents", request: storedRequest },
];
const conversation = { messages: [{ role: "user", content: [{ text: "hi" }] }] };
const converse: Json = {
  ...conversation,
  system: [{ text: "Be brief." }, { cachePoint: { type: "default", ttl: "1h" } }],
  toolConfig: {
    tools: [{ toolSpec: { name: "read", inputSchema: { json: { type: "object" } } } }],
    toolChoice: { auto: {} },
  },
  inferenceConfig: { maxTokens: 100 },
};
const carried: Json = {
  anthropic_version: "2023-06-01",
  max_tokens: 100,
  messages: [{ role: "user", content: "hi" }],
};
const onBedrock = "/model/us.anthropic.claude-opus-5-5";
const onVertex = "/v1/projects/p/locations/global/publishers/anthropic/models";
const clouds: readonly { readonly path: string; readonly request: Json }[] = [
  { path: `${onBedrock}/converse`, request: converse },
  { path: `${onBedrock}/converse-stream`, request: converse },
  { path: `${onBedrock}/invoke`, request: carried },
  { path: `${onBedrock}/invoke-with-response-stream`, request: carried },
  { path: `${onBedrock}/count-tokens`, request: { input: { converse: conversation } } },
  { path: `${onVertex}/claude-opus-5-5:streamRawPredict`, request: carried },
];
const samples = [
  ...sampleProtocols.map(({ path, request }) => ({ path, request })),
  ...geminiSamples,
  ...clouds,
];
const controls: readonly { readonly path: string; readonly request: Json }[] = [
  { path: "/_sim/clock", request: { advanceMs: 1000 } },
  { path: "/_sim/faults", request: [{ kind: "rate limited", retryAfterSeconds: 2, count: 1 }] },
  { path: "/_sim/faults", request: { kind: "random", of: [{ kind: "cut" }], probability: 0.1 } },
  { path: "/_sim/faults", request: [{ kind: "error event" }, { kind: "model timeout" }] },
  { path: "/_sim/faults", request: { clear: true } },
];
const counting = { path: "/v1/messages/count_tokens", request: samples[0]?.request ?? null };
const gets = [
  "/v1/models",
  "/v1beta/models?pageSize=1e400",
  "/v1beta/cachedContents?pageToken=AAAA",
  "/v1beta/cachedContents/x",
  "/_sim/state",
  "/_sim/ledger",
  "/_sim/ledger?after=1e400",
  "/v1/responses/x",
  "/",
  "/v1/../_sim/state",
  "/%00",
  "//",
];

function makeCall(random: Random): Call {
  if (random() < 0.08)
    return {
      method: pick(random, ["GET", "GET", "DELETE", "PUT"]),
      path: pick(random, gets),
      headers: makeHeaders(random),
      body: null,
    };
  const { path, request } =
    random() < 0.85 ? pick(random, [...samples, ...samples, counting]) : pick(random, controls);
  const known = keysIn(request);
  const kind = random();
  const base = random() < 0.3 ? streamed(request) : request;
  const body =
    kind < 0.65
      ? mutateJson(random, base, known)
      : kind < 0.85
        ? JSON.stringify(base)
        : kind < 0.95
          ? mutateText(random, JSON.stringify(base))
          : oddJson(random, known);
  return { method: "POST", path, headers: makeHeaders(random), body };
}

function streamed(request: Json): Json {
  const isObject = typeof request === "object" && request !== null && !Array.isArray(request);
  return isObject ? Object.fromEntries([...Object.entries(request), ["stream", true]]) : request;
}

function makeHeaders(random: Random): Record<string, string> {
  const odd = (): string =>
    oddText(random)
      .replace(/[^\x20-\x7e]/g, "")
      .slice(0, 1000);
  return {
    ...sampleHeaders,
    "x-api-key": plantedKey,
    ...(random() < 0.6 ? { authorization: `Bearer ${plantedKey}` } : {}),
    ...(random() < 0.5 ? { "x-goog-api-key": plantedKey } : {}),
    ...(random() < 0.05 ? { "anthropic-version": odd() } : {}),
    ...(random() < 0.1 ? { "anthropic-beta": odd() } : {}),
    ...(random() < 0.05 ? { "content-type": odd() } : {}),
    ...(random() < 0.03 ? { "content-encoding": "gzip" } : {}),
    ...(random() < 0.03 ? { origin: "https://evil.example" } : {}),
  };
}

/** The body of an answer in chunks; null if it was cut. */
function bodyOf(answer: string): string | null {
  const [head = "", ...rest] = answer.split("\r\n\r\n");
  const body = rest.join("\r\n\r\n");
  if (!/^transfer-encoding: chunked/im.test(head)) return body;
  if (!body.endsWith("0\r\n\r\n") && !body.endsWith("0")) return null;
  return body.replace(/(^|\r\n)[0-9a-f]+\r\n/g, "");
}

/**
 * A refusal has the provider's error body, unless a planted fault cut it. A 500 says a mistake of the simulator, unless
 * it was planted.
 */
function judge(status: number, body: string | null): Outcome {
  const outputs = body === null ? [] : [body];
  if (status < 400) return { isAccepted: true, outputs };
  if (body === null) return { isAccepted: false, outputs };
  const hint = messageIn(body);
  const isMistake = status === 500 && !plantedErrors.test(hint ?? "");
  const mistake = isMistake ? [{ code: "500", hint: `a mistake of Strata: ${body}` }] : [];
  return { isAccepted: false, outputs, refusals: [{ code: String(status), hint }, ...mistake] };
}

/** What the fault "server error" says. */
const plantedErrors =
  /^(?:Internal server error$|The server had an error while processing|An internal error has occurred|The system encountered an unexpected error)/;

function messageIn(text: string): string | undefined {
  try {
    const body: unknown = JSON.parse(text);
    const error = (body as { readonly error?: unknown } | null)?.error ?? body;
    if (typeof error === "string") return error;
    const message = (error as { readonly message?: unknown } | null | undefined)?.message;
    return typeof message === "string" ? message : undefined;
  } catch {
    return undefined;
  }
}
