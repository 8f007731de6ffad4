// Questions to a ledger in the shared database.
import { postgresStore } from "../ledger/stores.ts";
import { analyticsContract } from "./contract.ts";

analyticsContract(postgresStore());
