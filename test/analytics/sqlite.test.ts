// Questions to a ledger in the embedded database.
import { sqliteStore } from "../ledger/stores.ts";
import { analyticsContract } from "./contract.ts";

analyticsContract(sqliteStore());
