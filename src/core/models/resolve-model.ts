// From an id as people and transcripts write it to the facts of one model. Never matches by prefix.
import { nearestNames } from "../nearest-names.ts";
import { StrataError } from "../strata-error.ts";
import { builtInCatalogue, type Catalogue, type ListedName } from "./catalogue.ts";
import type { ModelFacts } from "./model-facts.ts";
import { isCalendarDay } from "./moment.ts";
import { findShortName } from "./short-names.ts";
import { longWindowTokens, readSpelling, type Spelling } from "./spelling.ts";

export interface ResolvedModel {
  /** Window, prices and cache rules on this route. */
  readonly facts: ModelFacts;
  readonly route: string;
  /** How the name itself matched, without its prefixes. */
  readonly matched:
    | "exact"
    | "alias"
    | "dotted version"
    | "date suffix"
    | "short name"
    | "any name";
}

/**
 * The model an id names, or null. Upper and lower case are equal: vendors use both for their own ids.
 * White space matters: the id is also sent, and no provider accepts a trailing space.
 */
export function findModel(
  id: string,
  catalogue: Catalogue = builtInCatalogue,
): ResolvedModel | null {
  // Other catalogues may change while they are in use, as those of strata.yaml do.
  if (catalogue !== builtInCatalogue || id.length > lengthMax) return findIn(catalogue, id);
  const before = builtInModels.get(id);
  if (before !== undefined) return before;
  const model = findIn(catalogue, id);
  // Ids come from requests, too: there may be any number of them.
  if (builtInModels.size >= builtInModelsMax) builtInModels.clear();
  builtInModels.set(id, model);
  return model;
}

/** Every call asks for its model several times, and what is built in never changes. */
const builtInModels = new Map<string, ResolvedModel | null>();
const builtInModelsMax = 1000;

function findIn(catalogue: Catalogue, id: string): ResolvedModel | null {
  return findListed(id, catalogue) ?? findOpen(id, catalogue);
}

function findOpen(id: string, catalogue: Catalogue): ResolvedModel | null {
  const facts = catalogue.openFactsOf(id);
  return facts === null ? null : { facts, route: facts.route, matched: "any name" };
}

function findListed(id: string, catalogue: Catalogue): ResolvedModel | null {
  const { name, vendor, ...choice } = spellingOf(id, catalogue);
  const listed = findName(name, catalogue);
  if (listed === null || (vendor !== undefined && vendor !== listed.provider)) return null;
  const routes = catalogue.routesOf(listed.id);
  if (choice.route !== undefined && !routes.includes(choice.route)) return null;
  const facts = catalogue.factsOf(listed.id, choice);
  if (choice.longWindow === true && facts.windowTokens < longWindowTokens) return null;
  return { facts, route: facts.route, matched: listed.matched };
}

/** The model an id names. Throws for an unknown id, with the nearest known ones. */
export function resolveModel(id: string, catalogue: Catalogue = builtInCatalogue): ResolvedModel {
  const found = findModel(id, catalogue);
  if (found !== null) return found;
  throw new StrataError(
    "model-unknown",
    `model ${JSON.stringify(shortened(id))} is unknown`,
    hintFor(id, catalogue),
  );
}

/**
 * At most three ids, nearest first. Among equally near ones, active models come first. None if the text
 * is too long to be an id.
 */
export function nearestIds(id: string, catalogue: Catalogue = builtInCatalogue): readonly string[] {
  if (id.length > lengthMax) return [];
  const statuses = ["active", "legacy", "retired"];
  const ids = catalogue.ids
    .map((each) => ({ id: each, status: catalogue.factsOf(each).lifecycle.status }))
    .toSorted((left, right) => statuses.indexOf(left.status) - statuses.indexOf(right.status))
    .map((each) => each.id);
  return nearestNames(spellingOf(id, catalogue).name, ids, 3);
}

/** Longer than any vendor's id or ARN. */
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

/** A listed name counts as a whole, even if a user's id looks like a provider and a name. */
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
  const short = catalogue.names.get(findShortName(name, catalogue) ?? "");
  if (short !== undefined) return { ...short, matched: "short name" };
  const base = withoutDate(name);
  const dated = base === null || withoutDate(base) !== null ? undefined : catalogue.names.get(base);
  return dated === undefined ? null : { ...dated, matched: "date suffix" };
}

/** The name without -YYYYMMDD, -YYYY-MM-DD or @YYYYMMDD. Null if it has no such date. */
function withoutDate(name: string): string | null {
  const parts = /^(.+)(?:-(\d{4})-(\d{2})-(\d{2})|[-@](\d{4})(\d{2})(\d{2}))$/.exec(name);
  if (parts === null) return null;
  const year = Number(parts[2] ?? parts[5]);
  const month = Number(parts[3] ?? parts[6]);
  const day = Number(parts[4] ?? parts[7]);
  const isDate = year >= 2020 && year <= 2039 && isCalendarDay(year, month, day);
  return isDate ? (parts[1] ?? null) : null;
}
