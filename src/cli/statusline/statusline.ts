// strata statusline: one line for Claude Code, from the ledger, about the session that it names. It never fails.
import { messageOf } from "../../core/strata-error.ts";
import { textIn, type Fields } from "../../core/message/fields.ts";
import { createLedgerClient } from "../../api/reader/ledger-client.ts";
import { closing } from "../../edge/stores/open-store.ts";
import { readConfiguredChanges } from "../../host/config/catalogue.ts";
import type { CommandBody, CommandInput, Io } from "../command.ts";
import { toPrintable } from "../ledger/render-ledger.ts";
import { atPlace } from "../use-ledger.ts";
import { readGiven } from "./read-given.ts";
import { renderLine } from "./render-line.ts";
import { readSessionFacts } from "./session-facts.ts";

export const run: CommandBody = async (input, io) => {
  const given = await readGiven();
  const line = given === null ? "Strata: no session was given" : await lineOf(given, input, io);
  io.out(`${toPrintable(line)}\n`);
  return 0;
};

async function lineOf(given: Fields, input: CommandInput, io: Io): Promise<string> {
  const session = textIn(given, "session_id");
  if (session === undefined) return renderLine(null, given);
  let line = "";
  try {
    await atPlace(input, io, async ({ where }) => {
      const models = await readConfiguredChanges(io.env, () => {});
      const client = createLedgerClient({ store: where, models });
      const facts = await closing(client, () => readSessionFacts(client, session));
      line = renderLine(facts, given);
      return 0;
    });
  } catch (error) {
    // A line that is red on every refresh helps no one: it says why, and Claude Code goes on.
    line = `Strata: ${messageOf(error)}`;
  }
  return line;
}
