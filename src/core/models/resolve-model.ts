// From an id as people and transcripts write it to the facts of one model. Never by prefix: unknown is unknown.
import { nearestNames } from "../nearest-names.ts";
import { StrataError } from "../strata-error.ts";
import { builtInCatalogue, type Catalogue, type ListedName } from "./catalogue.ts";
import type { ModelFacts } from "./model-facts.ts";
import { isCalendarDay } from "./moment.ts";
import { longWindowTokens, readSpelling, type Spelling } from "./spelling.ts";

export interface ResolvedModel {
  /** Window, prices and cache rules as they hold on this route. */
  readonly facts: ModelFacts;
  readonly route: string;
  /** How the name itself was found, whatever stood around it. */
  readonly matched: "exact" | "alias" | "dotted version" | "date suffix";
}

/**
 * The model an id names, or null. Upper and lower case are the same: vendors spell their own ids both
 * ways. White space is not: an id is also sent, and no provider knows it with a space at its end.
 */
export function findModel(
  id: string,
  catalogue: Catalogue = builtInCatalogue,
): ResolvedModel | null {
  const { name, vendor, ...choice } = spellingOf(id, catalogue);
  const listed = findName(name, catalogue);
  if (listed === null || (vendor !== undefined && vendor !== listed.provider)) return null;
  const routes = catalogue.routesOf(listed.id);
  if (choice.route !== undefined && !routes.includes(choice.route)) return null;
  const facts = catalogue.factsOf(listed.id, choice);
  if (choice.longWindow === true && facts.windowTokens < longWindowTokens) return null;
  return { facts, route: facts.route, matched: listed.matched };
}

/** The model an id names; an unknown one is an error with the nearest known ids. */
export function resolveModel(id: string, catalogue: Catalogue = builtInCatalogue): ResolvedModel {
  const found = findModel(id, catalogue);
  if (found !== null) return found;
  throw new StrataError(
    "model-unknown",
    `model ${JSON.stringify(shortened(id))} is unknown`,
    hintFor(id, catalogue),
  );
}

/** At most three ids, nearest first; of equally near ones those still in service first. None for what is too long to be an id. */
export function nearestIds(id: string, catalogue: Catalogue = builtInCatalogue): readonly string[] {
  if (id.length > lengthMax) return [];
  const statuses = ["active", "legacy", "retired"];
  const ids = catalogue.ids
    .map((each) => ({ id: each, status: catalogue.factsOf(each).lifecycle.status }))
    .toSorted((left, right) => statuses.indexOf(left.status) - statuses.indexOf(right.status))
    .map((each) => each.id);
  return nearestNames(spellingOf(id, catalogue).name, ids, 3);
}

/** No vendor's id comes near it, nor does an ARN. */
const lengthMax = 200;
const lengthShown = 60;

function shortened(id: string): string {
  return id.length > lengthMax ? `${id.slice(0, lengthShown).toWellFormed()}…` : id;
}

function hintFor(id: string, catalogue: Catalogue): string {
  const trimmed = id.trim();
  if (trimmed !== id && findModel(trimmed, catalogue) !== null)
    return `remove the white space around ${trimmed}`;
  const near = nearestIds(id, catalogue);
  return near.length === 0
    ? "list the known ones with: strata models list"
    : `did you mean ${near.join(", ")}? Others: strata models list`;
}

/** A listed name is taken whole, even where a user's id looks like a provider and a name. */
function spellingOf(id: string, catalogue: Catalogue): Spelling {
  const name = id.toLowerCase();
  return catalogue.names.has(name) ? { name } : readSpelling(id, catalogue);
}

function findName(
  name: string,
  catalogue: Catalogue,
): (Omit<ListedName, "kind"> & { readonly matched: ResolvedModel["matched"] }) | null {
  const listed = catalogue.names.get(name);
  if (listed !== undefined) return { ...listed, matched: listed.kind };
  const base = withoutDate(name);
  const dated = base === null || withoutDate(base) !== null ? undefined : catalogue.names.get(base);
  return dated === undefined ? null : { ...dated, matched: "date suffix" };
}

/** Without -YYYYMMDD, -YYYY-MM-DD or @YYYYMMDD; null where there is no such date. */
function withoutDate(name: string): string | null {
  const parts = /^(.+)(?:-(\d{4})-(\d{2})-(\d{2})|[-@](\d{4})(\d{2})(\d{2}))$/.exec(name);
  if (parts === null) return null;
  const year = Number(parts[2] ?? parts[5]);
  const month = Number(parts[3] ?? parts[6]);
  const day = Number(parts[4] ?? parts[7]);
  const isDate = year >= 2020 && year <= 2039 && isCalendarDay(year, month, day);
  return isDate ? (parts[1] ?? null) : null;
}
