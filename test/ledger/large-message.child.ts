// A process that records one large message and prints the most memory it took, in megabytes.
import { openPostgresLedger } from "../../src/edge/stores/postgres/index.ts";
import { newTurn, openSession } from "./test-kit.ts";

const ledger = await openPostgresLedger({ url: process.argv[2] ?? "" });
await openSession(ledger, "s");
// Quotes and line breaks are what a driver has to escape.
const text = '"line"\n\\x '.repeat(2_000_000);
const message = { role: "user" as const, content: [{ type: "text" as const, text }] };
const turn = await ledger.openTurn({
  ...newTurn("s", "t", null),
  messages: [{ message, tokens: 1 }],
});
await turn.release();
await ledger.close();
console.log(Math.round(process.resourceUsage().maxRSS / 1000));
