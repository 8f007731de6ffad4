// Searches everything the code under test outputs in the test process for planted secrets.
import { findPlanted, overlapLength, type Finding } from "../planted-key.ts";

export interface Leak extends Finding {
  /** For example "standard output of node" or "a row of the ledger". */
  readonly place: string;
  /** The current or last test; empty outside of tests. */
  readonly test: string;
}

/** Returns the name of the current test. */
export type NameTest = () => string;

interface State {
  leaks: Leak[];
  nameTest: NameTest;
}

/** One per process, because a module can be loaded more than once. */
const holder = globalThis as { [key: symbol]: State | undefined };
const state: State = (holder[Symbol.for("strata.outputs")] ??= { leaks: [], nameTest: () => "" });

export function setTestNamer(nameTest: NameTest): void {
  state.nameTest = nameTest;
}

/** For complete values; objects are searched as JSON. */
export function noteOutput(place: string, value: unknown): void {
  const text = toText(value);
  const finding = text === "" ? null : findPlanted(text);
  if (finding !== null) noteLeak({ ...finding, place });
}

export function noteLeak(leak: Omit<Leak, "test">): void {
  state.leaks.push({ ...leak, test: state.nameTest() });
}

/** For output in pieces, which can split a secret. */
export function createOutputWatch(place: string): (piece: unknown) => void {
  let end = "";
  return (piece) => {
    const text = end + toText(piece);
    const finding = findPlanted(text);
    if (finding !== null) noteLeak({ ...finding, place });
    // A secret found once must not be found again in the next piece.
    end = finding === null ? text.slice(-overlapLength) : "";
  };
}

/** Removes and returns the leaks found since the last call. */
export function takeLeaks(): readonly Leak[] {
  return state.leaks.splice(0);
}

export function describeLeaks(leaks: readonly Omit<Leak, "test">[] | readonly Leak[]): string {
  const lines = leaks.map((leak) => {
    const during = "test" in leak && leak.test !== "" ? `, in or after "${leak.test}"` : "";
    return `  ${leak.place} (${leak.form})${during}: ${leak.near}`;
  });
  return `a planted secret came out:\n${lines.join("\n")}`;
}

function toText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString("latin1");
  if (typeof value !== "object" || value === null) return "";
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = Array.isArray(value) || prototype === Object.prototype || prototype === null;
  return isPlain ? Object.values(value).map(toText).join("\n") : "";
}
