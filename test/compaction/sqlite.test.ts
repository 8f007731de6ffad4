// Compacted sessions on the embedded database.
import { sqliteStore } from "../ledger/stores.ts";
import { compactedSessionContract } from "./contract.ts";

compactedSessionContract(sqliteStore(), { programs: 25 });
