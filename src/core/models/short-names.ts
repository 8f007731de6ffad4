// Short names of models, for people: `opus` is the newest model of its line that is in service.
import { shortNamesFile } from "./built-in-files.ts";
import type { Catalogue } from "./catalogue.ts";
import * as read from "./read-fields.ts";

const newestFirst: ReadonlyMap<string, readonly string[]> = parseShortNames(shortNamesFile);

/** The id that a short name stands for; null for any other name. */
export function findShortName(name: string, catalogue: Catalogue): string | null {
  const line = newestFirst.get(name);
  if (line === undefined) return null;
  const known = line.filter((id) => catalogue.names.get(id)?.id === id);
  const inService = (id: string): boolean => catalogue.factsOf(id).lifecycle.status === "active";
  return known.find(inService) ?? known[0] ?? null;
}

/** Every short name, and the models of its line. */
export function listShortNames(): ReadonlyMap<string, readonly string[]> {
  return newestFirst;
}

function parseShortNames(file: unknown): ReadonlyMap<string, readonly string[]> {
  const place = "short-names.json";
  const { newestFirst: lines } = read.fields(file, place, ["checkedOn", "newestFirst"]);
  const named = read.record(lines, `${place}.newestFirst`);
  return new Map(
    Object.entries(named).map(([name, ids]) => [
      name,
      read.list(ids, `${place}: ${name}`, read.text),
    ]),
  );
}
