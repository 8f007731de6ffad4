// UUIDs that count: where the engine says one to a model, prompts have the same length and keys in every run.
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";

/** Until the result is called. The first eight digits differ, because holders of leases are named by them. */
export function fixIds(after: number): () => void {
  const { randomUUID } = crypto;
  let count = after;
  crypto.randomUUID = () => {
    count += 1;
    return `${count.toString(16).padStart(8, "0")}-0000-4000-8000-000000000000`;
  };
  syncBuiltinESMExports();
  return () => {
    crypto.randomUUID = randomUUID;
    syncBuiltinESMExports();
  };
}
