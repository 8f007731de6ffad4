// Facts about models and providers: windows, prices, cache rules (dated data). A catalogue is one value.
import { assert } from "../assert.ts";
import { StrataError } from "../strata-error.ts";
import { builtInFiles, routesFile, sharedFile, unlistedFile } from "./built-in-files.ts";
import { applyChanges, type CatalogueChanges } from "./catalogue-changes.ts";
import type { ModelFacts } from "./model-facts.ts";
import { findOpenModel, parseOpenProviders, type OpenModel } from "./open-providers.ts";
import {
  dotted,
  endpoints,
  inRegion,
  parseModelOn,
  parseProviderFile,
  parseSharedParts,
  routesOf,
  type ProviderFile,
  type RouteChoice,
} from "./provider-file.ts";
import * as read from "./read-fields.ts";
import { parseRoutes, type Routes } from "./routes.ts";

export type { CatalogueChanges } from "./catalogue-changes.ts";

export interface Catalogue {
  /** Every model's own id, in file order. */
  readonly ids: readonly string[];
  /** Every listed spelling in lower case: ids, aliases, dotted versions. */
  readonly names: ReadonlyMap<string, ListedName>;
  /** The provider prefixes before a model's name → the provider. */
  readonly vendors: ReadonlyMap<string, string>;
  readonly routes: Routes;
  /** The routes of a model's provider, its own API first. */
  readonly routesOf: (id: string) => readonly string[];
  /** The facts of a model by its own id, on one of its provider's routes. Frozen. */
  readonly factsOf: (id: string, choice?: RouteChoice) => ModelFacts;
  /** The facts of a model of which only the provider is known, as `ollama/qwen3:8b`. Null for other names. Frozen. */
  readonly openFactsOf: (id: string) => ModelFacts | null;
}

export interface ListedName {
  readonly id: string;
  readonly provider: string;
  readonly kind: "exact" | "alias" | "dotted version";
}

const shared = parseSharedParts(sharedFile, "shared.json");

/** The built-in facts with a user's changes. Throws immediately if the changes are invalid, not on first use. */
export function createCatalogue(changes?: CatalogueChanges): Catalogue {
  const routes = parseRoutes(routesFile, "routes.json");
  const listed = builtInFiles.map(([file, value]) => parseOurFile(value, file));
  const open = parseOpenProviders(parseUnlisted());
  const builtIn = [...listed, ...open.map(({ file }) => file)];
  const { files, changed } =
    changes === undefined
      ? { files: builtIn, changed: [] }
      : applyChanges({ files: builtIn, routes, unlisted: parseUnlisted() }, changes);
  const fileOf = new Map<string, ProviderFile>();
  for (const file of files) for (const id of file.models.keys()) fileOf.set(id, file);
  // Each is parsed once. The answer never changes, so callers may keep it, compare it and ask often.
  const parsed = new Map<string, ModelFacts>();
  const wireNameOf = (name: string): string | null => routes.get(name)?.wire ?? null;

  const factsOf = (id: string, choice: RouteChoice = {}): ModelFacts => {
    const file = fileOf.get(id);
    assert(file !== undefined, `${id} is not an id of the catalogue`);
    const route = choice.route ?? routesOf(file)[0];
    const { region, ...everywhere } = choice;
    const { endpoint, longWindow = false } = choice;
    const key = [route, endpoint, longWindow, region, id].join("\n");
    const before = parsed.get(key);
    if (before !== undefined) return before;
    const facts =
      region === undefined
        ? parseModelOn(file, id, choice, wireNameOf)
        : inRegion(file, factsOf(id, everywhere), region);
    parsed.set(key, deepFreeze(facts));
    return facts;
  };
  const isElsewhere = (vendor: string, provider: string): boolean =>
    [...routes.values()].some(({ spelledAs }) => spelledAs.includes(vendor)) ||
    files.some((file) => file.spelledAs.includes(vendor) && !routesOf(file).includes(provider));
  const openFactsOf = (id: string): ModelFacts | null => {
    const found = findOpenModel(id, open, isElsewhere);
    if (found === null) return null;
    const key = `${found.provider.file.provider}\n${found.name}`;
    const facts = parsed.get(key) ?? deepFreeze(parseOpenModel(found, wireNameOf));
    // Names come from recordings, too: there may be any number of them.
    if (parsed.size >= parsedMax) parsed.clear();
    parsed.set(key, facts);
    return facts;
  };
  const catalogue: Catalogue = {
    ids: Object.freeze([...fileOf.keys()]),
    names: indexNames(files),
    vendors: new Map(files.flatMap((file) => file.spelledAs.map((name) => [name, file.provider]))),
    routes,
    routesOf: (id) => {
      const file = fileOf.get(id);
      return file === undefined ? [] : routesOf(file);
    },
    factsOf,
    openFactsOf,
  };
  for (const id of changed) for (const choice of choicesOf(catalogue, id)) factsOf(id, choice);
  return Object.freeze(catalogue);
}

/** Our own facts without user changes. */
export const builtInCatalogue: Catalogue = createCatalogue();

/** Every model on its provider's own route. */
export function listModels(catalogue: Catalogue = builtInCatalogue): readonly ModelFacts[] {
  return catalogue.ids.map((id) => catalogue.factsOf(id));
}

/** For an unknown model, if the caller decided to go on: a small window, no caching, no price. */
export function conservativeFacts(id: string): ModelFacts {
  const file = parseUnlisted();
  const models = new Map([
    [id, { fields: {}, writtenIn: file.file, changedIn: null, saidToBeAble: {} }],
  ]);
  return deepFreeze(parseModelOn({ ...file, models }, id, {}));
}

const parsedMax = 20_000;

/** Its id begins with the provider's name: without it, the name may be another vendor's model. */
function parseOpenModel(
  { provider: { file }, name }: OpenModel,
  wireNameOf: (route: string) => string | null,
): ModelFacts {
  const id = `${file.provider}/${name}`;
  const models = new Map([
    [id, { fields: {}, writtenIn: file.file, changedIn: null, saidToBeAble: {} }],
  ]);
  return { ...parseModelOn({ ...file, models }, id, {}, wireNameOf), sentAs: name };
}

function parseOurFile(value: unknown, file: string): ProviderFile {
  return parseProviderFile(value, file, shared);
}

function parseUnlisted(): ProviderFile {
  return parseOurFile(unlistedFile, "unlisted.json");
}

/** Every way an id can select a model. */
function choicesOf(catalogue: Catalogue, id: string): readonly RouteChoice[] {
  return catalogue
    .routesOf(id)
    .flatMap((route) => [{ route }, ...endpoints.map((endpoint) => ({ route, endpoint }))])
    .flatMap((choice) => [choice, { ...choice, longWindow: true }]);
}

function indexNames(files: readonly ProviderFile[]): ReadonlyMap<string, ListedName> {
  const names = new Map<string, ListedName>();
  const list = (file: ProviderFile, name: string, id: string, kind: ListedName["kind"]): void => {
    const spelled = name.toLowerCase();
    const before = names.get(spelled);
    if (before !== undefined && before.id !== id) throw namedTwice(files, name, [before.id, id]);
    if (before === undefined) names.set(spelled, { id, provider: file.provider, kind });
  };
  for (const file of files) {
    for (const [id, { fields, writtenIn }] of file.models) {
      const aliases = read.list(fields["aliases"] ?? [], `${writtenIn}: ${id}.aliases`, read.text);
      const own = [id, ...aliases];
      own.forEach((name, index) => list(file, name, id, index === 0 ? "exact" : "alias"));
      if (!file.versionsMayBeDotted) continue;
      for (const name of own) list(file, dotted(name), id, "dotted version");
    }
  }
  return names;
}

/** If one of the two models is the user's, the error names that one. */
function namedTwice(
  files: readonly ProviderFile[],
  name: string,
  ids: readonly [string, string],
): StrataError {
  const places = ids.flatMap((id) =>
    files.flatMap((file) => {
      const writtenIn = file.models.get(id)?.writtenIn;
      return writtenIn === undefined ? [] : { writtenIn, isOurs: writtenIn === file.file };
    }),
  );
  const place = places.find((each) => !each.isOurs) ?? places[0];
  return new StrataError(
    "config-invalid",
    `${place?.writtenIn}: "${name}" is both ${ids.join(" and ")}`,
    "remove one of the two names",
  );
}

/** Freezes plain data at every level and returns it. */
export function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}
