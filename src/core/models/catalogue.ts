// Facts about models and providers: windows, prices, cache rules (dated data). One catalogue is one value.
import { assert } from "../assert.ts";
import { nearestNames } from "../nearest-names.ts";
import { StrataError } from "../strata-error.ts";
import { builtInFiles, routesFile, unlistedFile } from "./built-in-files.ts";
import type { ModelFacts } from "./model-facts.ts";
import {
  parseModelOn,
  parseProviderFile,
  routesOf,
  type ProviderFile,
  type RouteChoice,
} from "./provider-file.ts";
import { mergeFields, readList, readRecord, readText, type Fields } from "./read-fields.ts";
import { parseRoutes, type Routes } from "./routes.ts";

export interface Catalogue {
  /** Every model's own id, in the order of the files. */
  readonly ids: readonly string[];
  /** Every listed spelling in lower case: ids, aliases, dotted versions. */
  readonly names: ReadonlyMap<string, ListedName>;
  /** How providers are written before a model's name → the provider. */
  readonly vendors: ReadonlyMap<string, string>;
  readonly routes: Routes;
  /** The routes of a model's provider, its own API first. */
  readonly routesOf: (id: string) => readonly string[];
  /** The facts of a model by its own id, on a route of its provider. */
  readonly factsOf: (id: string, choice?: RouteChoice) => ModelFacts;
}

export interface ListedName {
  readonly id: string;
  readonly provider: string;
  readonly kind: "exact" | "alias" | "dotted version";
}

/** Models a user adds or changes, in the same form as our own files. */
export interface CatalogueChanges {
  /** Where the changes were written; named in complaints. */
  readonly origin: string;
  /** New models; each names its `provider`, whose defaults, families and rules it may use. */
  readonly add?: unknown;
  /** Fields that replace those of known models. */
  readonly override?: unknown;
}

/** The built-in facts with a user's changes. What is invalid is thrown at once, not when it is used. */
export function createCatalogue(changes?: CatalogueChanges): Catalogue {
  const builtIn = builtInFiles.map(([file, value]) => parseProviderFile(value, file));
  const { files, changed } = withChanges(builtIn, changes);
  const fileOf = new Map<string, ProviderFile>();
  for (const file of files) for (const id of Object.keys(file.models)) fileOf.set(id, file);
  // Parsed once each: the answer never changes, so callers may keep it, compare it, and ask often.
  const parsed = new Map<string, ModelFacts>();

  const factsOf = (id: string, choice: RouteChoice = {}): ModelFacts => {
    const key = [id, choice.route, choice.endpoint, choice.longWindow].join("\n");
    const before = parsed.get(key);
    if (before !== undefined) return before;
    const file = fileOf.get(id);
    assert(file !== undefined, `${id} is not an id of the catalogue`);
    const facts = parseModelOn(file, id, choice);
    parsed.set(key, facts);
    return facts;
  };
  const catalogue: Catalogue = {
    ids: [...fileOf.keys()],
    names: indexNames(files),
    vendors: new Map(files.flatMap((file) => file.spelledAs.map((name) => [name, file.provider]))),
    routes: parseRoutes(routesFile, "routes.json"),
    routesOf: (id) => {
      const file = fileOf.get(id);
      return file === undefined ? [] : routesOf(file);
    },
    factsOf,
  };
  for (const id of changed) factsOf(id);
  return catalogue;
}

/** Our own facts without any user's changes. */
export const builtInCatalogue: Catalogue = createCatalogue();

/** Every model on its provider's own route. */
export function listModels(catalogue: Catalogue = builtInCatalogue): readonly ModelFacts[] {
  return catalogue.ids.map((id) => catalogue.factsOf(id));
}

/** For a model nobody knows, when the caller has decided to go on: a small window, no caching, no price. */
export function conservativeFacts(id: string): ModelFacts {
  const file = parseProviderFile(unlistedFile, "unlisted.json");
  return parseModelOn({ ...file, models: { [id]: {} } }, id, {});
}

function withChanges(
  builtIn: readonly ProviderFile[],
  changes: CatalogueChanges | undefined,
): { files: readonly ProviderFile[]; changed: readonly string[] } {
  if (changes === undefined) return { files: builtIn, changed: [] };
  const files = new Map(builtIn.map((file) => [file.provider, file]));
  const put = (file: ProviderFile, id: string, model: Fields): void => {
    files.set(file.provider, { ...file, models: { ...file.models, [id]: model } });
  };
  const added = Object.entries(readRecord(changes.add ?? {}, `${changes.origin}: add`));
  const overridden = Object.entries(
    readRecord(changes.override ?? {}, `${changes.origin}: override`),
  );
  for (const [id, value] of overridden) {
    const place = `${changes.origin}: ${id}`;
    const file = [...files.values()].find((each) => each.models[id] !== undefined);
    if (file === undefined) throw notThere(place, id, builtIn);
    put(file, id, mergeFields(readRecord(file.models[id], place), readRecord(value, place)));
  }
  for (const [id, value] of added) {
    const place = `${changes.origin}: ${id}`;
    const model = readRecord(value, place);
    const provider = readText(model["provider"], `${place}.provider`);
    const file = files.get(provider) ?? newProvider(provider, changes.origin);
    if ([...files.values()].some((each) => each.models[id] !== undefined))
      throw new StrataError(
        "config-invalid",
        `${place} is already known`,
        "write it under override instead of add",
      );
    put(file, id, mergeFields({ source: changes.origin }, model));
  }
  return { files: [...files.values()], changed: [...added, ...overridden].map(([id]) => id) };
}

function newProvider(provider: string, origin: string): ProviderFile {
  const file = parseProviderFile(unlistedFile, "unlisted.json");
  return { ...file, file: origin, provider, name: provider, spelledAs: [provider.toLowerCase()] };
}

function notThere(place: string, id: string, files: readonly ProviderFile[]): StrataError {
  const near = nearestNames(
    id,
    files.flatMap((file) => Object.keys(file.models)),
    3,
  );
  return new StrataError(
    "config-invalid",
    `${place} overrides a model that is not known`,
    near.length === 0
      ? "write it under add"
      : `did you mean ${near.join(", ")}? A new model is written under add`,
  );
}

function indexNames(files: readonly ProviderFile[]): ReadonlyMap<string, ListedName> {
  const names = new Map<string, ListedName>();
  const list = (file: ProviderFile, name: string, id: string, kind: ListedName["kind"]): void => {
    const spelled = name.toLowerCase();
    const before = names.get(spelled);
    if (before !== undefined && before.id !== id)
      throw new StrataError(
        "config-invalid",
        `${file.file}: "${name}" is both ${before.id} and ${id}`,
        "remove one of the two names",
      );
    if (before === undefined) names.set(spelled, { id, provider: file.provider, kind });
  };
  for (const file of files) {
    for (const [id, value] of Object.entries(file.models)) {
      const place = `${file.file}: ${id}`;
      const aliases = readRecord(value, place)["aliases"] ?? [];
      const own = [id, ...readList(aliases, `${place}.aliases`, readText)];
      own.forEach((name, index) => list(file, name, id, index === 0 ? "exact" : "alias"));
      if (!file.versionsMayBeDotted) continue;
      for (const name of own) list(file, dotted(name), id, "dotted version");
    }
  }
  return names;
}

/** claude-opus-4-8 → claude-opus-4.8; dates are left alone. */
function dotted(name: string): string {
  return name.replace(/(?<=\d)-(?=\d{1,2}(?!\d))/g, ".");
}
