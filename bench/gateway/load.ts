// Requests of the bench: conversations of the Messages API that grow, and what sends them.
import { performance } from "node:perf_hooks";
import { Agent, request, type Dispatcher } from "undici";

export interface Load {
  send(url: string, body: Buffer): Promise<void>;
  /** Milliseconds to the first byte of the answer's body. */
  firstByteMs(url: string, body: Buffer): Promise<number>;
  /** Resolves when the first bytes came; the stream stays open until `close`. */
  hold(url: string, body: Buffer): Promise<void>;
  close(): Promise<void>;
}

export function openLoad(): Load {
  const dispatcher = new Agent({ allowH2: false, bodyTimeout: 0, headersTimeout: 0 });
  const post = (url: string, body: Buffer): Promise<Dispatcher.ResponseData> =>
    request(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "anthropic-version": "2023-06-01",
        "x-api-key": "bench",
      },
      body,
      dispatcher,
    });
  return {
    send: async (url, body) => {
      const answer = await post(url, body);
      expectOk(answer);
      await answer.body.dump({ limit: Number.MAX_SAFE_INTEGER });
    },
    firstByteMs: async (url, body) => {
      const start = performance.now();
      const answer = await post(url, body);
      expectOk(answer);
      let firstMs: number | null = null;
      for await (const _ of answer.body) firstMs ??= performance.now() - start;
      return firstMs ?? Number.NaN;
    },
    hold: async (url, body) => {
      const answer = await post(url, body);
      expectOk(answer);
      const first = Promise.withResolvers<void>();
      answer.body.on("error", () => {}).on("data", () => first.resolve());
      await first.promise;
    },
    close: () => dispatcher.destroy(),
  };
}

function expectOk({ statusCode }: Dispatcher.ResponseData): void {
  if (statusCode !== 200) throw new Error(`answered ${statusCode}`);
}

/** Sends the bodies one after the other in each of several lanes. */
export async function sendAll(
  load: Load,
  url: string,
  lanes: readonly (readonly Buffer[])[],
): Promise<number> {
  const start = performance.now();
  await Promise.all(
    lanes.map(async (bodies) => {
      for (const body of bodies) await load.send(url, body);
    }),
  );
  return performance.now() - start;
}

export interface BodyOptions {
  readonly stream?: boolean;
  /** Whether the client marks its last message, as agents do; otherwise its system text alone. */
  readonly marksLast?: boolean;
}

/** A conversation's calls: each has the messages of the one before and four more. */
export function growingBodies(
  name: string,
  from: number,
  calls: number,
  options: BodyOptions = {},
): readonly Buffer[] {
  const { stream = false, marksLast = true } = options;
  const head = `{"model":"claude-sonnet-5-5","max_tokens":1000,${stream ? '"stream":true,' : ""}"system":[{"type":"text","text":"You work in ${name}.","cache_control":{"type":"ephemeral"}}],"messages":[`;
  const messages: string[] = [];
  const add = (count: number): void => {
    for (let left = count; left > 0; left -= 1) messages.push(messageAt(messages.length));
  };
  add(from);
  return Array.from({ length: calls }, () => {
    add(3);
    const last = messageAt(messages.length, marksLast);
    const body = Buffer.from(`${head}${messages.join(",")},${last}]}`);
    add(1);
    return body;
  });
}

/** How many bytes of such a body are new: those of its latest four messages, which are as long as others of this place. */
export function newBytesOf(bodyBytes: number): number {
  const messageBytes = messageAt(0).length + 1;
  return 4 * (messageAt(Math.max(0, Math.round(bodyBytes / messageBytes) - 2)).length + 1);
}

/** About 850 bytes each, as in recorded sessions. A call ends with a user's message. */
function messageAt(at: number, isMarked = false): string {
  const words = `Line ${at} says what the file holds and where it is used. `.repeat(15);
  const marker = isMarked ? ',"cache_control":{"type":"ephemeral"}' : "";
  const role = at === 0 || at % 2 === 1 ? "user" : "assistant";
  return `{"role":"${role}","content":[{"type":"text","text":"${words}"${marker}}]}`;
}
