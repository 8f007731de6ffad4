import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { hashContent } from "../../../core/hash.ts";
import { openMemoryStore, type MemoryOutcome, type MemoryStore } from "./memory-store.ts";

let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "strata-memory-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Step {
  readonly kind: "add" | "replace" | "consolidate" | "wait";
  readonly by: number;
}

const steps = fc.array(
  fc.record<Step>({
    kind: fc.constantFrom("add", "add", "replace", "consolidate", "wait"),
    by: fc.nat({ max: 2 }),
  }),
  { minLength: 3, maxLength: 12 },
);

/** Every text is new, so that each version occurs once. */
async function take(
  store: MemoryStore,
  { kind, by }: Step,
  number: number,
): Promise<MemoryOutcome | null> {
  const unique = `${kind} ${number} by ${by}`;
  switch (kind) {
    case "add":
      return store.addEntry("MEMORY.md", unique);
    case "replace": {
      const [first = "nothing"] = (await store.peek("MEMORY.md")).text.split("\n");
      return store.replace("MEMORY.md", first, unique);
    }
    case "consolidate": {
      const { text } = await store.read("MEMORY.md");
      return store.consolidate("MEMORY.md", `${text}${unique}\n`);
    }
    case "wait":
      await new Promise((resolve) => setTimeout(resolve, number));
      return null;
  }
}

test("property: the hash chain is unbroken under any interleaving, and no accepted word is lost unseen", async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const workspace = join(folder, String((run += 1)));
      mkdirSync(workspace);
      const stores = await Promise.all([0, 1, 2].map(() => openMemoryStore(workspace)));
      // Each store takes its steps in order. The stores do not know about each other.
      const outcomes = await Promise.all(
        stores.map(async (store, by) => {
          const done: (MemoryOutcome | null)[] = [];
          for (const [number, step] of all.entries()) {
            if (step.by === by) done.push(await take(store, step, number));
          }
          return done;
        }),
      );
      const written = outcomes
        .flat()
        .flatMap((each) => (each?.kind === "written" ? [each.write] : []));
      const next = new Map(written.map(({ beforeHash, afterHash }) => [beforeHash, afterHash]));
      let hash = hashContent("");
      for (let count = 0; count < written.length; count += 1) hash = next.get(hash) ?? "broken";
      const file = join(workspace, ".strata", "MEMORY.md");
      const end = written.length === 0 ? "" : readFileSync(file, "utf8");
      expect(next.size).toBe(written.length);
      expect(hash).toBe(hashContent(end));
    }),
    { numRuns: 12 },
  );
});
