// The contract of the ledger, on the embedded database.
import { ledgerContract } from "./contract.ts";
import { sqliteStore } from "./stores.ts";

ledgerContract(sqliteStore(), { programs: 300 });
