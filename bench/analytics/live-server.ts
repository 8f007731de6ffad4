// The API on a ledger in a process of its own, so that its memory is its own. Started by live-readers.ts, which it answers over IPC.
import { once } from "node:events";
import { createServer } from "node:http";
import { openApi } from "../../src/api/open-api.ts";

const [store = ""] = process.argv.slice(2);
const api = openApi({
  store,
  token: null,
  models: null,
  isEncrypted: false,
  onProblem: (problem) => console.error(problem),
});
const server = createServer((incoming, outgoing) => api.answer(incoming, outgoing));
server.listen(0, "127.0.0.1");
await once(server, "listening");
const address = server.address();
process.send?.(typeof address === "object" ? address?.port : 0);
process.on("message", () => {
  // Twice: what the first one frees is given back by the second.
  globalThis.gc?.();
  globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  process.send?.({ bytes: process.memoryUsage().rss, cpuMs: (user + system) / 1000 });
});
