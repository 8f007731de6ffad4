// Folded sessions on the shared database.
import { postgresStore } from "../ledger/stores.ts";
import { foldedSessionContract } from "./contract.ts";

foldedSessionContract(postgresStore(), { programs: 8 });
