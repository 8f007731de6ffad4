// The metrics as an HTTP handler.
import type { Metrics } from "./metrics.ts";

/** Answers GET and HEAD for `/metrics`. Let only operators reach it: metrics name agents, models and paths. */
export function serveMetrics(
  metrics: Pick<Metrics, "render" | "contentType">,
): (request: Request) => Promise<Response> {
  return async ({ method, url }) => {
    if (new URL(url).pathname !== "/metrics") return new Response("not found\n", { status: 404 });
    if (method !== "GET" && method !== "HEAD") {
      const headers = { allow: "GET, HEAD" };
      return new Response("only GET and HEAD\n", { status: 405, headers });
    }
    const text = await metrics.render();
    const headers = { "content-type": metrics.contentType, "cache-control": "no-store" };
    return new Response(method === "HEAD" ? null : text, { status: 200, headers });
  };
}
