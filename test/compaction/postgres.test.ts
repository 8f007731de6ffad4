// Compacted sessions on the shared database.
import { postgresStore } from "../ledger/stores.ts";
import { compactedSessionContract } from "./contract.ts";

compactedSessionContract(postgresStore(), { programs: 8 });
