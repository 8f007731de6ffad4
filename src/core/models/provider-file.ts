// One provider's file of facts: named defaults merged into models, and the changes of each route.
import { assert } from "../assert.ts";
import { nearestNames } from "../nearest-names.ts";
import { StrataError } from "../strata-error.ts";
import { parseModel, type ModelFacts } from "./model-facts.ts";
import * as read from "./read-fields.ts";
import type { Fields } from "../message/fields.ts";
import { anyServer, wireNamed } from "./wire-rules.ts";

export interface ProviderFile {
  /** Every error names it. */
  readonly file: string;
  readonly provider: string;
  readonly name: string;
  /** Prefixes for the provider before a model's name, lower case. */
  readonly spelledAs: readonly string[];
  /** Whether claude-opus-4-8 may be written claude-opus-4.8. */
  readonly versionsMayBeDotted: boolean;
  /** The first one is the default for an id that names none. */
  readonly routes: Fields;
  readonly caches: Fields;
  readonly families: Fields;
  readonly defaults: Fields;
  readonly models: ReadonlyMap<string, ModelEntry>;
}

/** A model's own fields and their author. */
export interface ModelEntry {
  readonly fields: Fields;
  /** Named in errors: our file, or where a user added or changed the model. */
  readonly writtenIn: string;
  /** Where a user changed a model of ours. Null if unchanged. */
  readonly changedIn: string | null;
  /** What the user says it can, on every route; empty for nothing. */
  readonly saidToBeAble: Fields;
}

/** Parts that the files of several providers refer to by name. */
export interface SharedParts {
  readonly routes: Fields;
  readonly caches: Fields;
}

/** The route to a model, as its id states it. */
export interface RouteChoice {
  readonly route?: string;
  readonly endpoint?: Endpoint;
  /** As ids of the route spell it. */
  readonly region?: string;
  readonly longWindow?: boolean;
}

/** Regional endpoints keep data in a region and may cost more. */
export type Endpoint = (typeof endpoints)[number];

export const endpoints = ["global", "regional"] as const;

export function parseSharedParts(value: unknown, file: string): SharedParts {
  const fields = read.fields(value, file, ["source", "checkedOn", "routes", "caches"]);
  return {
    routes: read.record(fields["routes"], `${file}: routes`),
    caches: read.record(fields["caches"], `${file}: caches`),
  };
}

/** Reads what a file says about its provider. Each model is read on demand. */
export function parseProviderFile(value: unknown, file: string, shared: SharedParts): ProviderFile {
  const known = [
    "provider",
    "name",
    "source",
    "checkedOn",
    "spelledAs",
    "versionsMayBeDotted",
    "routes",
    "caches",
    "families",
    "defaults",
    "models",
  ];
  const fields = read.fields(value, file, known);
  const record = (key: string): Fields => read.record(fields[key] ?? {}, `${file}: ${key}`);
  const source = read.text(fields["source"], `${file}: source`);
  const checkedOn = read.day(fields["checkedOn"], `${file}: checkedOn`);
  return {
    file,
    provider: read.text(fields["provider"], `${file}: provider`),
    name: read.text(fields["name"], `${file}: name`),
    spelledAs: read.list(fields["spelledAs"], `${file}: spelledAs`, read.text),
    versionsMayBeDotted: read.flag(
      fields["versionsMayBeDotted"] ?? false,
      `${file}: versionsMayBeDotted`,
    ),
    routes: withShared(record("routes"), shared, file),
    caches: { ...shared.caches, ...record("caches") },
    families: record("families"),
    defaults: read.mergeFields({ source, checkedOn }, record("defaults")),
    models: new Map(
      Object.entries(record("models")).map(([id, model]) => [
        id,
        {
          fields: read.record(model, `${file}: ${id}`),
          writtenIn: file,
          changedIn: null,
          saidToBeAble: {},
        },
      ]),
    ),
  };
}

/** A route given as text is the shared one of that name; `like` takes it and changes it. */
function withShared(routes: Fields, shared: SharedParts, file: string): Fields {
  return Object.fromEntries(
    Object.entries(routes).map(([id, route]) => {
      const place = `${file}: routes.${id}`;
      if (typeof route === "string") return [id, named(shared.routes, route, place)];
      const { like, ...own } = read.record(route, place);
      const base = read.optional(like, `${place}.like`, read.text);
      if (base === null) return [id, route];
      return [id, read.mergeFields(read.record(named(shared.routes, base, place), place), own)];
    }),
  );
}

/** The routes to a provider's models, its own API first. */
export function routesOf(file: ProviderFile): readonly string[] {
  return Object.keys(file.routes);
}

/** Reads one model with its families, on one route. */
export function parseModelOn(
  file: ProviderFile,
  id: string,
  choice: RouteChoice,
  wireNameOf: (route: string) => string | null = () => null,
): ModelFacts {
  const entry = file.models.get(id);
  const route = choice.route ?? routesOf(file)[0];
  assert(entry !== undefined, `${id} is not an id of ${file.file}`);
  assert(route !== undefined && Object.hasOwn(file.routes, route), `${id} has no route ${route}`);
  const place = `${entry.writtenIn}: ${id}`;
  const own = entry.fields;
  const model = read.mergeFields(file.defaults, ...familiesOf(file, own, place), own);
  const routePlace = `${file.file}: routes.${route}`;
  const onRoute = read.fields(file.routes[route], routePlace, routeFields);
  const models = read.record(onRoute["models"] ?? {}, `${routePlace}.models`);
  const ownPlace = `${routePlace}.models.${id}`;
  const onRouteOwn = read.fields(read.ownField(models, id) ?? {}, ownPlace, ["cache", "sentAs"]);
  const onThisRoute = read.record(onRoute["can"] ?? {}, `${routePlace}.can`);
  const can = { can: { ...onThisRoute, ...entry.saidToBeAble } };
  return parseModel(read.mergeFields(model, can), {
    id,
    sentAs: sentAsOf(id, [onRoute, onRouteOwn], routePlace),
    provider: file.provider,
    route,
    unpriced: read.optional(onRoute["unpriced"], `${routePlace}.unpriced`, read.text),
    routeNote: read.optional(onRoute["note"], `${routePlace}.note`, read.text),
    cache: cacheOf(file, model, [onRoute, onRouteOwn], place),
    priceMultiplier: priceMultiplierOf(onRoute, choice, routePlace),
    wire: wireOf(wireNameOf(route), route),
    longWindow: choice.longWindow ?? false,
    changedIn: entry.changedIn,
    place,
  });
}

function wireOf(name: string | null, route: string): ModelFacts["wire"] {
  return name === null ? anyServer : wireNamed(name, `the route ${route}`).rules;
}

/** A route may put its vendor's name before a model's, and write versions with dots. */
function sentAsOf(
  id: string,
  [onRoute, onRouteOwn]: readonly [Fields, Fields],
  place: string,
): string | null {
  const own = read.optional(onRouteOwn["sentAs"], `${place}.models.${id}.sentAs`, read.text);
  if (own !== null) return own;
  const before = read.optional(onRoute["namePrefix"], `${place}.namePrefix`, read.text);
  if (before === null) return null;
  const isDotted = read.flag(onRoute["dottedNames"] ?? false, `${place}.dottedNames`);
  const name = isDotted ? dotted(id) : id;
  return `${before}${name.toLowerCase()}`;
}

/** The facts with the name in the region that an id asks for, in place of the usual one. */
export function inRegion(file: ProviderFile, facts: ModelFacts, region: string): ModelFacts {
  const { route, sentAs } = facts;
  const place = `${file.file}: routes.${route}`;
  const onRoute = read.fields(file.routes[route], place, routeFields);
  const before = read.optional(onRoute["regionBefore"], `${place}.regionBefore`, read.text);
  if (sentAs === undefined || before === null) return facts;
  return { ...facts, sentAs: `${region}.${sentAs.slice(Math.max(0, sentAs.indexOf(before)))}` };
}

/** claude-opus-4-8 → claude-opus-4.8; dates are left alone. */
export function dotted(name: string): string {
  return name.replace(/(?<=\d)-(?=\d{1,2}(?!\d))/g, ".");
}

const routeFields = [
  "namePrefix",
  "regionBefore",
  "dottedNames",
  "note",
  "can",
  "unpriced",
  "endpoint",
  "regionalMultiplier",
  "diagnostics",
  "cache",
  "models",
];

/** The surcharge of a regional endpoint. The route says which endpoint an id without a region means. */
function priceMultiplierOf(onRoute: Fields, choice: RouteChoice, place: string): number {
  const usual = read.oneOf(onRoute["endpoint"] ?? "global", endpoints, `${place}.endpoint`);
  if ((choice.endpoint ?? usual) === "global") return 1;
  return read.multiplier(onRoute["regionalMultiplier"] ?? 1, `${place}.regionalMultiplier`);
}

function familiesOf(file: ProviderFile, own: Fields, place: string): readonly Fields[] {
  return read
    .list(own["use"] ?? [], `${place}.use`, read.text)
    .map((name) =>
      read.record(named(file.families, name, `${place}.use`), `${file.file}: families.${name}`),
    );
}

function cacheOf(
  file: ProviderFile,
  model: Fields,
  [onRoute, onRouteOwn]: readonly [Fields, Fields],
  place: string,
): Fields {
  // Null rules mean that nothing is known about caching on this route.
  if (onRoute["cache"] === null) return {};
  const own = read.record(model["cache"] ?? {}, `${place}.cache`);
  const name = read.optional(own["rules"], `${place}.cache.rules`, read.text);
  const shared = name === null ? {} : rulesNamed(file, name, `${place}.cache.rules`);
  const rules = read.mergeFields(shared, own);
  // A route changes how a model is cached. It never makes an uncached model cached.
  if ((rules["markers"] ?? rules["automatic"] ?? null) === null) return rules;
  return read.mergeFields(
    rules,
    // Both the model's caching and the route must support diagnostics.
    onRoute["diagnostics"] === true ? {} : { diagnostics: false },
    read.record(onRoute["cache"] ?? {}, `${place}.cache`),
    read.record(onRouteOwn["cache"] ?? {}, `${place}.cache`),
  );
}

/** Shared rules may themselves build on others. */
function rulesNamed(file: ProviderFile, name: string, place: string): Fields {
  const rules = read.record(named(file.caches, name, place), `${file.file}: caches.${name}`);
  const base = read.optional(rules["rules"], `${file.file}: caches.${name}.rules`, read.text);
  return base === null || base === name
    ? rules
    : read.mergeFields(rulesNamed(file, base, place), rules);
}

function named(all: Fields, name: string, place: string): unknown {
  const found = read.ownField(all, name);
  if (found !== undefined) return found;
  const near = nearestNames(name, Object.keys(all), 1)[0];
  throw new StrataError(
    "config-invalid",
    `${place} names "${name}", which its provider does not define`,
    near === undefined
      ? `defined are: ${Object.keys(all).join(", ") || "none"}`
      : `did you mean "${near}"?`,
  );
}
