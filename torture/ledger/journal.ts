// Checks that a store shows exactly what writers reported about their commits.
import type { Facts, WriterEvent, Tried } from "./facts.ts";
import { createHolders } from "./holders.ts";

export interface Journal {
  /** Takes an event of a writer, whose commits are sequential. */
  add(writer: string, event: WriterEvent): void;
  /** Compares with the whole store while no writer runs. Returns each problem once, in words. */
  compare(shown: ReadonlyMap<string, string>): Comparison;
  /** Number of acknowledged commits. */
  acknowledged(): number;
  /** Number of refused commits, and of those whose writer had lost its turn. */
  refused(): number;
  fenced(): number;
}

export interface Comparison {
  /** Acknowledged facts that are missing or different. */
  readonly losses: readonly string[];
  /** Facts that are partial, refused, never reported, or committed without the lease. */
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
    add: (writer, event) => {
      if (event.at !== "try" && event.at !== "done" && event.at !== "refused") return;
      const name = `${writer} ${event.n}`;
      if (event.at === "try") {
        trying.set(name, { ...event.tried, writer, us: event.us });
        return;
      }
      const tried = trying.get(name);
      if (tried === undefined) return;
      trying.delete(name);
      if (event.at === "done") {
        acknowledged += 1;
        keep(tried.facts);
        holders.note({ ...tried, doneUs: event.us });
      } else {
        refused += 1;
        if (tried.turnId !== undefined && tried.takesLease !== true) fenced += 1;
        refusals.push(tried.facts);
      }
    },
    compare: (shown) => {
      const strays: string[] = [...holders.findFenced()];
      // The outcome of these was never reported: each must exist as a whole or not at all.
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
        if (!known.has(name)) strays.push(`${name} exists but was never written`);
      }
      return { losses: losses.filter(isNew), strays: strays.filter(isNew) };
    },
    acknowledged: () => acknowledged,
    refused: () => refused,
    fenced: () => fenced,
  };
}
