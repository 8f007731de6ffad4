// An exported session: imported into a ledger in memory, and read from there.
import { builtInCatalogue } from "../../core/models/catalogue.ts";
import { StrataError } from "../../core/strata-error.ts";
import { makeStore } from "../../edge/stores/open-store.ts";
import { readLines } from "../readers/read-lines.ts";
import { skip, type Source } from "../readers/line-reader.ts";
import type { Recorded } from "../recording.ts";
import { readLedger } from "./read-ledger.ts";

export async function* readExport(path: string, source: Source): AsyncGenerator<Recorded> {
  const { drafting, catalogue = builtInCatalogue } = source;
  const { counter, excerpts } = drafting;
  const store = await makeStore(":memory:");
  try {
    const session = await store.ledger.importSession(textsOf(path), { isTrusted: true });
    yield* readLedger(store, { name: path, catalogue, counter, excerpts }, [session]);
  } catch (error) {
    if (!(error instanceof StrataError)) throw error;
    yield skip(path, null, error.message);
  } finally {
    await store.ledger.close();
  }
}

async function* textsOf(path: string): AsyncGenerator<string> {
  for await (const { text, number } of readLines(path)) {
    if (text === null) {
      throw new StrataError(
        "input-invalid",
        `line ${number} is longer than 64 MB`,
        "import the session into a ledger, and name it with --session",
      );
    }
    yield text;
  }
}
