// What a gateway is compared with: Node's server and undici, bytes both ways, nothing else.
import { createServer, type Server } from "node:http";
import { Agent } from "undici";

export function createBareProxy(upstream: string): Server {
  const agent = new Agent({ allowH2: false });
  return createServer((incoming, outgoing) => {
    const headers: string[] = [];
    for (let at = 0; at < incoming.rawHeaders.length; at += 2) {
      const name = incoming.rawHeaders[at] ?? "";
      if (/^(?:host|connection|keep-alive|transfer-encoding)$/i.test(name)) continue;
      headers.push(name, incoming.rawHeaders[at + 1] ?? "");
    }
    const { url: path = "/", method = "GET" } = incoming;
    agent.dispatch(
      { origin: upstream, path, method, headers, body: incoming },
      {
        onRequestStart: (controller) => {
          outgoing.on("drain", () => controller.resume());
          outgoing.on("close", () => controller.abort(new Error("closed")));
        },
        onResponseStart: (_controller, status, given) => {
          delete given["transfer-encoding"];
          outgoing.writeHead(status, given);
        },
        onResponseData: (controller, bytes) => {
          if (!outgoing.write(bytes)) controller.pause();
        },
        onResponseEnd: () => void outgoing.end(),
        onResponseError: () => void outgoing.destroy(),
      },
    );
  });
}
