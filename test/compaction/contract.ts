// What a compacted session promises, on either store. Read top to bottom it tells what a compaction is.
import { describe } from "vitest";
import type { OpenLedger, TestStore } from "../ledger/stores.ts";
import { boundaryContract } from "./contract/boundary.ts";
import { failingContract } from "./contract/failing.ts";
import { goingOnContract } from "./contract/going-on.ts";
import { notesContract } from "./contract/notes.ts";
import { overflowContract } from "./contract/overflow.ts";
import { randomSessionsContract } from "./contract/random-sessions.ts";
import { renewalContract } from "./contract/renewal.ts";
import { resultsContract } from "./contract/results.ts";
import { reviewContract } from "./contract/review.ts";
import { whenContract } from "./contract/when.ts";

const parts: Readonly<Record<string, (open: OpenLedger) => void>> = {
  when: whenContract,
  boundary: boundaryContract,
  notes: notesContract,
  "results of tools": resultsContract,
  "going on": goingOnContract,
  renewal: renewalContract,
  "a summariser that fails": failingContract,
  "a prompt that is too long": overflowContract,
  "what was found by trying": reviewContract,
};

export function compactedSessionContract(
  { open }: TestStore,
  options: { readonly programs: number },
): void {
  describe.each(Object.entries(parts))("%s", (_name, part) => {
    part(open);
  });
  describe("random sessions", () => {
    randomSessionsContract(open, options.programs);
  });
}
