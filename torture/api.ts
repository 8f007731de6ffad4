// Random and hostile requests to the HTTP API: each is answered in its envelope, none is our fault, and nothing breaks.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRandom } from "../harness/random-message.ts";
import { atLeast, exactly, wholeNumber, type Experiment } from "../harness/report.ts";
import { openApi } from "../src/api/open-api.ts";
import { makeExample } from "../src/cli/test-kit.ts";
import { hostileRequest } from "./api/hostile-request.ts";
import { openClient } from "./api/raw-client.ts";

/** So many connections at once. */
const connections = 16;

export const experiment: Experiment = {
  summary:
    "hostile requests to the HTTP API: no answer above 499, none outside its envelope, no crash",
  options: { requests: "how many, 100000 by default", seed: "where to start, 1 by default" },
  async run(settings) {
    const requests = wholeNumber(settings, "requests", 100_000);
    const seed = wholeNumber(settings, "seed", 1);
    const folder = mkdtempSync(join(tmpdir(), "strata-api-torture-"));
    const store = join(folder, "ledger.db");
    await makeExample(store);
    const faults: string[] = [];
    const api = openApi({
      store,
      token: null,
      models: null,
      isEncrypted: false,
      onProblem: (problem) => faults.push(problem),
    });
    const server = createServer((incoming, outgoing) => {
      if (api.takes(incoming.url ?? "")) return api.answer(incoming, outgoing);
      outgoing.writeHead(404).end();
    });
    try {
      const port = await listen(server);
      const statuses = new Map<number, number>();
      const wrong: string[] = [];
      let [sent, silent] = [0, 0];
      const work = async (own: number): Promise<void> => {
        const random = createRandom(seed * 1000 + own);
        const client = openClient(port);
        while (sent < requests) {
          sent += 1;
          if (sent % 10_000 === 0) settings.progress(`${sent} requests, ${wrong.length} wrong`);
          const request = hostileRequest(random);
          const answer = await client.ask(request);
          if (answer === null) silent += 1;
          else statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
          const problem =
            answer === null ? (request.mayBeBroken ? null : "no answer") : answer.problem;
          if (problem !== null)
            wrong.push(
              `${problem}: ${JSON.stringify(request.bytes.toString("latin1").slice(0, 300))}`,
            );
        }
        client.close();
      };
      await Promise.all(Array.from({ length: connections }, (_, own) => work(own)));
      for (const line of [...wrong, ...faults].slice(0, 5)) settings.progress(line);
      const after = await fetch(`http://127.0.0.1:${port}/strata/v1/analytics/cost`);
      const above = [...statuses]
        .filter(([status]) => status >= 500)
        .reduce((sum, [, count]) => sum + count, 0);
      return {
        figures: {
          requests: sent,
          seed,
          "closed without an answer": silent,
          ...Object.fromEntries(
            [...statuses]
              .toSorted(([one], [other]) => one - other)
              .map(([status, count]) => [`answers ${status}`, count]),
          ),
        },
        checks: [
          exactly("answers above 499", above, 0),
          exactly(
            "answers outside the envelope, or none to a request that is one",
            wrong.length,
            0,
          ),
          exactly("faults of our own", faults.length, 0),
          exactly("status of a plain question afterwards", after.status, 200),
          atLeast(
            "share of requests that were answered with data",
            (statuses.get(200) ?? 0) / sent,
            0.05,
          ),
        ],
      };
    } finally {
      api.endStreams();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
      await api.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}
