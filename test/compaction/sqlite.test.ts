// Folded sessions on the embedded database.
import { sqliteStore } from "../ledger/stores.ts";
import { foldedSessionContract } from "./contract.ts";

foldedSessionContract(sqliteStore(), { programs: 25 });
