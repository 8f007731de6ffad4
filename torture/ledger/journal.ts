// What writers said about their commits, and whether a store shows exactly that.
import type { Facts, Told, Tried } from "./facts.ts";
import { createHolders } from "./holders.ts";

export interface Journal {
  /** From one writer; its commits come one after the other. */
  hear(writer: string, told: Told): void;
  /** Compares with everything a store shows. Nobody may be writing. Each problem in words, and once. */
  compare(shown: ReadonlyMap<string, string>): Comparison;
  /** Commits that were acknowledged. */
  acknowledged(): number;
  /** Commits that were refused; and those of them whose writer had lost its turn to somebody else. */
  refused(): number;
  fenced(): number;
}

export interface Comparison {
  /** Acknowledged and not there, or there otherwise. */
  readonly losses: readonly string[];
  /** There in part, or though it was refused, or said by nobody; or committed by who had lost the lease. */
  readonly strays: readonly string[];
}

interface Trying extends Tried {
  readonly writer: string;
  readonly us: number;
}

export function createJournal(): Journal {
  const known = new Map<string, string>();
  const trying = new Map<string, Trying>();
  const refusals: Facts[] = [];
  const reported = new Set<string>();
  const holders = createHolders();
  let acknowledged = 0;
  let refused = 0;
  let fenced = 0;
  const keep = (facts: Facts): void => {
    for (const [name, value] of Object.entries(facts)) known.set(name, value);
  };
  const isNew = (problem: string): boolean => {
    const isKnown = reported.has(problem);
    reported.add(problem);
    return !isKnown;
  };
  return {
    hear: (writer, told) => {
      if (told.at !== "try" && told.at !== "done" && told.at !== "refused") return;
      const name = `${writer} ${told.n}`;
      if (told.at === "try") {
        trying.set(name, { ...told.tried, writer, us: told.us });
        return;
      }
      const tried = trying.get(name);
      if (tried === undefined) return;
      trying.delete(name);
      if (told.at === "done") {
        acknowledged += 1;
        keep(tried.facts);
        holders.note({ ...tried, doneUs: told.us });
      } else {
        refused += 1;
        if (tried.turnId !== undefined && tried.takesLease !== true) fenced += 1;
        refusals.push(tried.facts);
      }
    },
    compare: (shown) => {
      const strays: string[] = [...holders.findFenced()];
      // Nobody heard whether these were committed: all of each or nothing.
      for (const { facts } of trying.values()) {
        const names = Object.entries(facts);
        const there = names.filter(([name, value]) => shown.get(name) === value);
        if (there.length === names.length) keep(facts);
        else if (there.length > 0) {
          strays.push(`half of a commit is there: ${there.map(([name]) => name).join(", ")}`);
        }
      }
      trying.clear();
      const losses = [...known]
        .filter(([name, value]) => shown.get(name) !== value)
        .map(([name, value]) => `${name} is ${shown.get(name) ?? "not there"}, not ${value}`);
      for (const facts of refusals.splice(0)) {
        for (const [name, value] of Object.entries(facts)) {
          if (shown.get(name) === value && known.get(name) !== value) {
            strays.push(`${name} is there and was refused`);
          }
        }
      }
      for (const name of shown.keys()) {
        if (!known.has(name)) strays.push(`${name} is there and nobody wrote it`);
      }
      return { losses: losses.filter(isNew), strays: strays.filter(isNew) };
    },
    acknowledged: () => acknowledged,
    refused: () => refused,
    fenced: () => fenced,
  };
}
