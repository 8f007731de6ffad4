// A relay before a PostgreSQL server whose connections a test breaks or stalls.
import { connect, createServer, type Socket } from "node:net";
import { once } from "node:events";

export interface Proxy {
  readonly url: string;
  /** From now on, an answer with these bytes does not arrive: the connection breaks instead. */
  breakOn(bytes: string | null): void;
  /** From now on nothing arrives, or only answers do not. Connections stay open, and new ones are accepted. */
  stall(what: "all" | "answers" | null): void;
  close(): Promise<void>;
}

export async function openProxy(target: string): Promise<Proxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let breaking: string | null = null;
  let stalled: "all" | "answers" | null = null;
  const server = createServer((inner) => {
    const outer = connect(Number(port), hostname);
    for (const socket of [inner, outer]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => [inner, outer].forEach((each) => each.destroy()));
    }
    inner.on("data", (bytes) => {
      if (stalled !== "all") outer.write(bytes);
    });
    outer.on("data", (bytes) => {
      if (stalled !== null) return;
      if (breaking !== null && bytes.includes(breaking)) inner.destroy();
      else inner.write(bytes);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(target);
  const address = server.address();
  url.port = String(address !== null && typeof address === "object" ? address.port : 0);
  return {
    url: url.href,
    breakOn: (bytes) => {
      breaking = bytes;
    },
    stall: (what) => {
      stalled = what;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
