// From an id as people and transcripts write it to the facts of one model. Never by prefix: unknown is unknown.
import { nearestNames } from "../nearest-names.ts";
import { StrataError } from "../strata-error.ts";
import { builtInCatalogue, type Catalogue, type ListedName } from "./catalogue.ts";
import type { ModelFacts } from "./model-facts.ts";
import { longWindowTokens, readSpelling } from "./spelling.ts";

export interface ResolvedModel {
  /** Window, prices and cache rules as they hold on this route. */
  readonly facts: ModelFacts;
  readonly route: string;
  /** How the name itself was found, whatever stood around it. */
  readonly matched: "exact" | "alias" | "dotted version" | "date suffix";
}

/** The model an id names, or null. Upper and lower case are the same: vendors spell their own ids both ways. */
export function findModel(
  id: string,
  catalogue: Catalogue = builtInCatalogue,
): ResolvedModel | null {
  const { name, vendor, ...choice } = readSpelling(id, catalogue);
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
  const near = nearestIds(id, catalogue);
  throw new StrataError(
    "model-unknown",
    `model "${id}" is unknown`,
    near.length === 0
      ? "list the known ones with: strata models list"
      : `did you mean ${near.join(", ")}? Others: strata models list`,
  );
}

/** At most three ids, nearest first; of equally near ones those still in service first. */
export function nearestIds(id: string, catalogue: Catalogue = builtInCatalogue): readonly string[] {
  const statuses = ["active", "legacy", "retired"];
  const ids = catalogue.ids
    .map((each) => ({ id: each, status: catalogue.factsOf(each).lifecycle.status }))
    .toSorted((left, right) => statuses.indexOf(left.status) - statuses.indexOf(right.status))
    .map((each) => each.id);
  return nearestNames(readSpelling(id, catalogue).name, ids, 3);
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
  const isDate = year >= 2020 && year <= 2039 && day >= 1 && day <= (daysOfMonth[month - 1] ?? 0);
  return isDate ? (parts[1] ?? null) : null;
}

const daysOfMonth = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
