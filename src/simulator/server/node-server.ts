// A thin Node server around a function from Request to Response. Loopback only.
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { StrataError } from "../../core/strata-error.ts";
import { createAnyHttp, type Incoming, type Outgoing } from "./any-http.ts";
import { isLoopback } from "./loopback.ts";

export interface ListenOptions {
  /** Default: 0, any free port. */
  readonly port?: number;
  readonly host?: string;
}

export interface OpenServer {
  readonly url: string;
  readonly port: number;
  /** Ends open streams and resolves when every connection is closed. */
  readonly close: () => Promise<void>;
}

type Handler = (request: Request) => Promise<Response>;

export async function openNodeServer(
  handler: Handler,
  { port = 0, host = "127.0.0.1" }: ListenOptions = {},
): Promise<OpenServer> {
  if (!isLoopback(host)) {
    throw new StrataError(
      "usage",
      `the simulator listens on this machine only, and ${host} is reachable from others`,
      "use 127.0.0.1, ::1 or localhost",
    );
  }
  const closing = new AbortController();
  const { server, closeConnections } = createAnyHttp((incoming, outgoing) => {
    void serve(incoming, outgoing, handler, closing.signal);
  });
  server.listen(port, host.replace(/^\[|\]$/g, ""));
  try {
    await once(server, "listening");
  } catch (error) {
    throw new StrataError(
      "environment-unfit",
      `cannot listen on ${host}:${port}: ${error instanceof Error ? error.message : ""}`,
      "choose another port, or 0 for any free one",
      { cause: error },
    );
  }
  const bound = addressOf(server.address());
  const shown = host.includes(":") ? `[${host.replace(/^\[|\]$/g, "")}]` : host;
  return {
    url: `http://${shown}:${bound}`,
    port: bound,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      closing.abort(new Error("the simulator is shutting down"));
      closeConnections();
      await closed;
    },
  };
}

function addressOf(address: AddressInfo | string | null): number {
  return typeof address === "object" && address !== null ? address.port : 0;
}

async function serve(
  incoming: Incoming,
  outgoing: Outgoing,
  handler: Handler,
  closing: AbortSignal,
): Promise<void> {
  const leaving = new AbortController();
  const leave = (): void => leaving.abort(closing.aborted ? closing.reason : undefined);
  closing.addEventListener("abort", leave);
  let isFinished = false;
  outgoing.on("finish", () => {
    isFinished = true;
  });
  outgoing.on("close", () => {
    closing.removeEventListener("abort", leave);
    if (!isFinished) leave();
  });
  // A socket can fail at any time; the client sees the connection end.
  outgoing.on("error", leave);
  try {
    const request = toRequest(incoming, leaving.signal);
    if (request === null) {
      outgoing.writeHead(400, {
        ...(incoming.httpVersionMajor === 1 ? { connection: "close" } : {}),
        "content-type": "application/json",
      });
      const error = { type: "invalid_request_error", message: unreadable };
      outgoing.end(JSON.stringify({ error }));
      return;
    }
    await send(await handler(request), outgoing);
  } catch (error) {
    // The stream was cut by a fault or by the client, so the response stays unfinished.
    outgoing.destroy(error instanceof Error ? error : undefined);
  }
  // The unread rest of this request must not be parsed as the next one.
  incoming.removeAllListeners("data").resume();
}

const unreadable = "the path or the host of the request cannot be read; send a path and a host";

/** Null for an invalid request, such as a URL with a broken host. */
function toRequest(incoming: Incoming, signal: AbortSignal): Request | null {
  const { method = "GET", headers, url = "" } = incoming;
  if (!url.startsWith("/")) return null;
  try {
    // In HTTP/2 the host, the method and the path stand among the headers.
    const list = Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || name.startsWith(":")
        ? []
        : [value].flat().map((each): [string, string] => [name, each]),
    );
    const host = headers.host ?? headers[":authority"] ?? "unknown.invalid";
    const hasBody = method !== "GET" && method !== "HEAD";
    // Concatenated, not resolved: a path that begins with two slashes must not set the host.
    return new Request(`http://${String(host)}${url}`, {
      method,
      headers: list,
      signal,
      ...(hasBody ? { body: toStream(incoming), duplex: "half" } : {}),
    });
  } catch {
    return null;
  }
}

/** Pulls on demand. Unlike Node's adapter it keeps the connection usable if the body is not read to the end. */
function toStream(incoming: Incoming): ReadableStream<Uint8Array> {
  let isOpen = true;
  const whileOpen = (step: () => void): void => {
    if (isOpen) step();
  };
  return new ReadableStream(
    {
      start: (controller) => {
        incoming.pause();
        incoming.on("data", (chunk: Uint8Array) =>
          whileOpen(() => {
            controller.enqueue(chunk);
            incoming.pause();
          }),
        );
        incoming.on("end", () => whileOpen(() => controller.close()));
        incoming.on("error", (error) => whileOpen(() => controller.error(error)));
      },
      pull: () => void incoming.resume(),
      cancel: () => {
        isOpen = false;
        incoming.resume();
      },
    },
    { highWaterMark: 0 },
  );
}

async function send(response: Response, outgoing: Outgoing): Promise<void> {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) {
    outgoing.end();
    return;
  }
  outgoing.flushHeaders?.();
  const reader = response.body.getReader();
  const stop = (): void => void reader.cancel().catch(() => {});
  outgoing.once("close", stop);
  let lastWritten: Promise<void> = Promise.resolve();
  const write = (chunk: Uint8Array): boolean => {
    const written = Promise.withResolvers<void>();
    lastWritten = written.promise;
    return outgoing.write(chunk, () => written.resolve());
  };
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      if (!write(next.value)) await drained(outgoing);
    }
  } catch (error) {
    // A cut must come after everything sent so far.
    await lastWritten;
    throw error;
  }
  outgoing.off("close", stop);
  outgoing.end();
}

/** Resolves when more can be written, or when the client is gone. */
function drained(outgoing: Outgoing): Promise<void> {
  return new Promise((resolve) => {
    if (outgoing.destroyed === true) return resolve();
    const done = (): void => {
      outgoing.off("drain", done).off("close", done);
      resolve();
    };
    outgoing.on("drain", done).on("close", done);
  });
}
