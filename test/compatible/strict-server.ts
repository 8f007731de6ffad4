// A server that speaks Chat Completions as strictly as the named one: what that one refuses, it refuses with the same words.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { onTestFinished } from "vitest";

export type Body = Readonly<Record<string, unknown>>;

export interface SaidMessage {
  readonly role: string;
  readonly content: unknown;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly { readonly id: string }[];
  readonly tool_call_id?: string;
}

export interface Refusal {
  readonly status: number;
  readonly body: unknown;
}

/** What the server counts in a call. */
export interface Counts {
  readonly prompt: number;
  readonly read: number;
  readonly written: number;
  readonly output: number;
  readonly thinking: number;
}

export interface Dialect {
  /** Null if it takes the request. */
  refuse(body: Body, messages: readonly SaidMessage[]): Refusal | null;
  /** Where it puts its counts: members of the last chunk. */
  report(counts: Counts): Body;
  /** The id of a tool call, as this server makes it. */
  readonly callId: string;
  readonly thinks: boolean;
  /** Members of every chunk. */
  readonly always?: Body;
}

export interface StrictServer {
  readonly url: string;
  readonly bodies: readonly Body[];
  /** The header with the key of each request; null for none. */
  readonly keys: readonly (string | null)[];
  readonly refusals: readonly Refusal[];
  readonly counted: readonly Counts[];
}

/** Answers the first call of a turn with a tool call, and the results with text. */
export async function openStrictServer(dialect: Dialect): Promise<StrictServer> {
  const bodies: Body[] = [];
  const keys: (string | null)[] = [];
  const refusals: Refusal[] = [];
  const counted: Counts[] = [];
  let before = "";
  const answer = (body: Body, response: ServerResponse): void => {
    const messages = body["messages"] as readonly SaidMessage[];
    const refusal = dialect.refuse(body, messages);
    bodies.push(body);
    if (refusal !== null) {
      refusals.push(refusal);
      response.writeHead(refusal.status, { "content-type": "application/json" });
      response.end(JSON.stringify(refusal.body));
      return;
    }
    const prompt = JSON.stringify([body["tools"], messages]);
    const isMarked = prompt.includes('"cache_control"');
    const counts = countsOf(prompt, before, dialect.thinks, isMarked);
    before = prompt;
    counted.push(counts);
    const chunks = chunksOf(messages.at(-1)?.role === "tool", dialect);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const all = [...chunks, dialect.report(counts)];
    for (const chunk of all) {
      const sent = {
        id: "chatcmpl-1",
        object: "chat.completion.chunk",
        ...dialect.always,
        ...chunk,
      };
      response.write(`data: ${JSON.stringify(sent)}\n\n`);
    }
    response.end("data: [DONE]\n\n");
  };
  const server = createServer((request, response) => {
    keys.push(request.headers.authorization ?? null);
    void readBody(request).then((body) => answer(body, response));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}/v1`, bodies, keys, refusals, counted };
}

/** Four characters are a token; what the last prompt began with is read, what is new is written where there are markers. */
function countsOf(prompt: string, before: string, thinks: boolean, isMarked: boolean): Counts {
  let same = 0;
  while (same < prompt.length && prompt[same] === before[same]) same += 1;
  const all = Math.ceil(prompt.length / 4);
  const read = Math.floor(same / 4);
  const written = isMarked ? Math.floor((all - read) / 2) : 0;
  return { prompt: all, read, written, output: 12, thinking: thinks ? 7 : 0 };
}

function chunksOf(hasResults: boolean, { callId, thinks }: Dialect): readonly Body[] {
  const thought = thinks ? [delta({ reasoning_content: "I need the file." })] : [];
  if (hasResults) return [...thought, delta({ content: "It says " }), ending("stop", "hello.")];
  const call = { index: 0, id: callId, type: "function" };
  const open = { ...call, function: { name: "read_file", arguments: '{"path":' } };
  const rest = { index: 0, function: { arguments: '"notes.md"}' } };
  return [
    ...thought,
    delta({ tool_calls: [open] }),
    delta({ tool_calls: [rest] }),
    { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
  ];
}

function delta(part: Body): Body {
  return { choices: [{ index: 0, delta: part, finish_reason: null }] };
}

function ending(reason: string, text: string): Body {
  return { choices: [{ index: 0, delta: { content: text }, finish_reason: reason }] };
}

async function readBody(request: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString("utf8")) as Body;
}
