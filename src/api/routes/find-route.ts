// Method and address of a request → its route and checked parameters.
import { nearestNames } from "../../core/nearest-names.ts";
import { refuseWith } from "../answer/api-error.ts";
import { parameters, type ParameterName } from "./parameters.ts";
import type { Asked, Route } from "./route.ts";
import { apiBase } from "./routes.ts";

export interface Places {
  /** The routes at the path of a request, one per method. */
  readonly routes: readonly Route[];
  readonly path: Asked["path"];
}

/** Throws if there is nothing at the path. */
export function findPlaces(path: string, table: readonly Route[]): Places {
  const parts = path.slice(apiBase.length).split("/");
  const found = table.filter((route) => matches(route.path.split("/"), parts));
  // Where one route has a name in the place in which another has anything, the name counts.
  const exact = found.filter(({ path: each }) => !each.includes("{"));
  const routes = exact.length > 0 ? exact : found;
  const [first] = routes;
  if (first === undefined) {
    throw refuseWith(
      "route_not_found",
      `there is nothing at ${shown(path)}`,
      nearestHint(path, table),
    );
  }
  const names = first.path.split("/");
  const entries = names.flatMap((name, index) =>
    name.startsWith("{") ? [[name.slice(1, -1), decoded(parts[index] ?? "")]] : [],
  );
  return { routes, path: Object.fromEntries(entries) };
}

function matches(pattern: readonly string[], parts: readonly string[]): boolean {
  return (
    pattern.length === parts.length &&
    pattern.every((part, index) =>
      part.startsWith("{") ? parts[index] !== "" : part === parts[index],
    )
  );
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw refuseWith(
      "invalid_parameter",
      "a part of the path is no text in percent encoding",
      "encode names in paths with encodeURIComponent",
    );
  }
}

function nearestHint(path: string, table: readonly Route[]): string {
  const known = table.map((route) => `${apiBase}${route.path}`);
  const [near] = nearestNames(path.slice(0, 128), known, 1);
  return near === undefined ? `see ${apiBase}/openapi.json` : `did you mean ${near}?`;
}

export function readQuery(search: URLSearchParams, route: Route): Asked["query"] {
  const query: Partial<Record<ParameterName, string>> = {};
  for (const [name, value] of search) {
    const known = route.query.find((each) => each === name);
    if (known === undefined) throw unknownParameter(name, route);
    if (query[known] !== undefined) {
      throw refuseWith(
        "invalid_parameter",
        `the parameter ${known} is there twice`,
        "give it once",
      );
    }
    checkLength(known, value);
    query[known] = value;
  }
  return query;
}

/** Longer than every name that the ledger takes. */
const valueCharactersMax = 1000;

function checkLength(name: ParameterName, value: string): void {
  if (value.length <= valueCharactersMax && !value.includes("\0")) return;
  throw refuseWith(
    "invalid_parameter",
    `the parameter ${name} is longer than ${valueCharactersMax} characters, or holds a zero byte`,
    `it is: ${parameters[name].meaning}`,
  );
}

function unknownParameter(name: string, { name: route, query }: Route): Error {
  const [near] = nearestNames(name.slice(0, 128), query, 1);
  const known = query.length === 0 ? "it takes none" : `it takes ${query.join(", ")}`;
  return refuseWith(
    "invalid_parameter",
    `${route} has no parameter ${shown(name)}`,
    near === undefined ? known : `did you mean ${near}? ${known}`,
  );
}

/** Words of a stranger, in one line and not too many. */
function shown(words: string): string {
  return JSON.stringify(words.length > 100 ? `${words.slice(0, 100)}…` : words);
}
