// Whether the gateway and its ledger are well, for the owner.
import packageJson from "../../../package.json" with { type: "json" };
import { one } from "./envelope.ts";
import type { Route } from "./route.ts";
import { flag, object, text } from "./schema.ts";

export const healthRoutes: readonly Route[] = [
  {
    name: "health",
    method: "GET",
    path: "/health",
    summary:
      "The version, whether the ledger can be read, and of a gateway all that `/strata/health` says: upstreams, exchanges, faults of the observer, losses of the ledger",
    query: [],
    answer: one({
      ...object({
        status: text("`ok`"),
        version: text("of Strata"),
        ledger_readable: flag("a question to it was answered"),
      }),
      // The gateway's own words.
      additionalProperties: true,
    }),
    errors: [],
    example: "/health",
    act: async (_asked, desk) => {
      const ledgerReadable = await desk.isLedgerReadable();
      const health = { status: "ok", version: packageJson.version, ...desk.gatewayHealth() };
      return { body: { data: { ...health, ledger_readable: ledgerReadable } } };
    },
  },
];
