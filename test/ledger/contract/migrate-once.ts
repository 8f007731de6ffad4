// A process of its own that brings a ledger up to date and prints what it did: started by the test of migrations.
import { openDatabase } from "../../../src/edge/stores/open-ledger.ts";
import { migrate } from "../../../src/edge/stores/sql/migrate.ts";

const [, , where = ""] = process.argv;
const database = await openDatabase(where);
process.stdout.write(JSON.stringify(await migrate(database, 1)));
await database.close();
