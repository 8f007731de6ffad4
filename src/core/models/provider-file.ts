// One provider's file of facts: named defaults merged into models, and what each route changes.
import { nearestNames } from "../nearest-names.ts";
import { StrataError } from "../strata-error.ts";
import { parseModel, type ModelFacts } from "./model-facts.ts";
import {
  mergeFields,
  readBoolean,
  readDay,
  readFields,
  readList,
  readMultiplier,
  readOptional,
  readRecord,
  readText,
  type Fields,
} from "./read-fields.ts";

export interface ProviderFile {
  /** Named in every complaint. */
  readonly file: string;
  readonly provider: string;
  readonly name: string;
  /** How the provider is written before a model's name, lower case. */
  readonly spelledAs: readonly string[];
  /** Whether claude-opus-4-8 may be written claude-opus-4.8. */
  readonly versionsMayBeDotted: boolean;
  /** The first one is meant where an id names none. */
  readonly routes: Fields;
  readonly caches: Fields;
  readonly families: Fields;
  readonly defaults: Fields;
  readonly models: Fields;
}

/** The way to a model, as its id tells. */
export interface RouteChoice {
  readonly route?: string;
  readonly endpoint?: Endpoint;
  readonly longWindow?: boolean;
}

/** Regional endpoints keep data in a region and may cost more. */
export type Endpoint = "global" | "regional";

/** Reads what a file says of its provider; its models are read when they are asked for. */
export function parseProviderFile(value: unknown, file: string): ProviderFile {
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
  const fields = readFields(value, file, known);
  const record = (key: string): Fields => readRecord(fields[key] ?? {}, `${file}: ${key}`);
  const source = readText(fields["source"], `${file}: source`);
  const checkedOn = readDay(fields["checkedOn"], `${file}: checkedOn`);
  return {
    file,
    provider: readText(fields["provider"], `${file}: provider`),
    name: readText(fields["name"], `${file}: name`),
    spelledAs: readList(fields["spelledAs"], `${file}: spelledAs`, readText),
    versionsMayBeDotted: readBoolean(
      fields["versionsMayBeDotted"] ?? false,
      `${file}: versionsMayBeDotted`,
    ),
    routes: record("routes"),
    caches: record("caches"),
    families: record("families"),
    defaults: mergeFields({ source, checkedOn }, record("defaults")),
    models: record("models"),
  };
}

/** The ways to a provider's models, its own API first. */
export function routesOf(file: ProviderFile): readonly string[] {
  return Object.keys(file.routes);
}

/** Reads one model with its families, on one route. */
export function parseModelOn(file: ProviderFile, id: string, choice: RouteChoice): ModelFacts {
  const place = `${file.file}: ${id}`;
  const route = choice.route ?? routesOf(file)[0] ?? "direct";
  const own = readRecord(file.models[id], place);
  const model = mergeFields(file.defaults, ...familiesOf(file, own, place), own);
  const routePlace = `${file.file}: routes.${route}`;
  const known = ["note", "can", "unpriced", "regionalMultiplier", "diagnostics", "cache", "models"];
  const onRoute = readFields(file.routes[route] ?? {}, routePlace, known);
  const models = readRecord(onRoute["models"] ?? {}, `${routePlace}.models`);
  const onRouteOwn = readRecord(models[id] ?? {}, `${routePlace}.models.${id}`);
  const multiplier = onRouteOwn["regionalMultiplier"] ?? onRoute["regionalMultiplier"] ?? 1;
  const can = onRoute["can"] === undefined ? {} : { can: onRoute["can"] };
  return parseModel(mergeFields(model, can), {
    id,
    provider: file.provider,
    route,
    unpriced: readOptional(onRoute["unpriced"], `${routePlace}.unpriced`, readText),
    routeNote: readOptional(onRoute["note"], `${routePlace}.note`, readText),
    cache: cacheOf(file, model, [onRoute, onRouteOwn], place),
    priceMultiplier:
      choice.endpoint === "regional"
        ? readMultiplier(multiplier, `${routePlace}.regionalMultiplier`)
        : 1,
    longWindow: choice.longWindow ?? false,
    place,
  });
}

function familiesOf(file: ProviderFile, own: Fields, place: string): readonly Fields[] {
  return readList(own["use"] ?? [], `${place}.use`, readText).map((name) =>
    readRecord(named(file.families, name, `${place}.use`), `${file.file}: families.${name}`),
  );
}

function cacheOf(
  file: ProviderFile,
  model: Fields,
  [onRoute, onRouteOwn]: readonly [Fields, Fields],
  place: string,
): Fields {
  const own = readRecord(model["cache"] ?? {}, `${place}.cache`);
  const name = readOptional(own["rules"], `${place}.cache.rules`, readText);
  const shared = name === null ? {} : rulesNamed(file, name, `${place}.cache.rules`);
  const rules = mergeFields(shared, own);
  // A route changes how something is cached; it never makes an uncached model a cached one.
  if ((rules["markers"] ?? rules["automatic"] ?? null) === null) return rules;
  return mergeFields(
    rules,
    { diagnostics: onRoute["diagnostics"] ?? false },
    readRecord(onRoute["cache"] ?? {}, `${place}.cache`),
    readRecord(onRouteOwn["cache"] ?? {}, `${place}.cache`),
  );
}

/** Shared rules may themselves start from others. */
function rulesNamed(file: ProviderFile, name: string, place: string): Fields {
  const rules = readRecord(named(file.caches, name, place), `${file.file}: caches.${name}`);
  const base = readOptional(rules["rules"], `${file.file}: caches.${name}.rules`, readText);
  return base === null || base === name ? rules : mergeFields(rulesNamed(file, base, place), rules);
}

function named(all: Fields, name: string, place: string): unknown {
  if (all[name] !== undefined) return all[name];
  const near = nearestNames(name, Object.keys(all), 1)[0];
  throw new StrataError(
    "config-invalid",
    `${place} names "${name}", which the file does not define`,
    near === undefined ? `defined are ${Object.keys(all).join(", ")}` : `did you mean "${near}"?`,
  );
}
