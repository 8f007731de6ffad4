// A user's models, added to our files or changed in them, in the same form as ours.
import { nearestNames } from "../nearest-names.ts";
import { StrataError } from "../strata-error.ts";
import type { ProviderFile } from "./provider-file.ts";
import * as read from "./read-fields.ts";
import type { Fields } from "../message/fields.ts";
import type { Routes } from "./routes.ts";

/** Models a user adds or changes, in the same form as our own files. */
export interface CatalogueChanges {
  /** Where the changes were written. Errors and the source of changed facts name it. */
  readonly origin: string;
  /** New models. Each names its `provider` and may use that provider's defaults, families and rules. */
  readonly add?: unknown;
  /** Fields that replace those of known models. Setting `prices` removes `unpriced`, and the reverse. */
  readonly override?: unknown;
}

export interface ChangedFiles {
  readonly files: readonly ProviderFile[];
  /** The ids of the models that were added or changed. */
  readonly changed: readonly string[];
}

export interface Unchanged {
  readonly files: readonly ProviderFile[];
  readonly routes: Routes;
  /** The base for a provider that only the user knows. */
  readonly unlisted: ProviderFile;
}

/** Our files with a user's models in them. */
export function applyChanges(before: Unchanged, changes: CatalogueChanges): ChangedFiles {
  const origin = read.text(changes.origin, "the origin of the changes");
  const { add, override } = read.fields(changes, origin, ["origin", "add", "override"]);
  const files = new Map(before.files.map((file) => [file.provider, file]));
  const fileWith = (id: string): ProviderFile | undefined =>
    [...files.values()].find((file) => file.models.has(id));
  const overridden = Object.entries(read.record(override ?? {}, `${origin}: override`));
  const added = Object.entries(read.record(add ?? {}, `${origin}: add`));

  for (const [id, value] of overridden) {
    const place = `${origin}: ${id}`;
    const file = fileWith(id);
    const entry = file?.models.get(id);
    if (file === undefined || entry === undefined) throw notThere(place, id, before.files);
    const change = readModel(value, place);
    if ((change["provider"] ?? file.provider) !== file.provider)
      throw new StrataError(
        "config-invalid",
        `${place}.provider cannot be changed from "${file.provider}"`,
        "write a model of another provider under add, with another id",
      );
    const fields = read.mergeFields(entry.fields, change);
    const isSame = JSON.stringify(fields) === JSON.stringify(entry.fields);
    const saidToBeAble = read.record(change["can"] ?? {}, `${place}.can`);
    const changedIn = isSame ? null : origin;
    const changed = { fields, writtenIn: origin, changedIn, saidToBeAble };
    files.set(file.provider, { ...file, models: new Map(file.models).set(id, changed) });
  }
  for (const [id, value] of added) {
    const place = `${origin}: ${id}`;
    const model = readModel(value, place);
    const provider = read.text(model["provider"], `${place}.provider`);
    const file = files.get(provider) ?? newProvider(provider, place, before, [...files.values()]);
    if (fileWith(id) !== undefined)
      throw new StrataError(
        "config-invalid",
        `${place} is already known`,
        "write it under override instead of add",
      );
    const fields = read.mergeFields({ source: origin }, model);
    const saidToBeAble = read.record(model["can"] ?? {}, `${place}.can`);
    const entry = { fields, writtenIn: origin, changedIn: null, saidToBeAble };
    files.set(provider, { ...file, models: new Map(file.models).set(id, entry) });
  }
  return { files: [...files.values()], changed: [...added, ...overridden].map(([id]) => id) };
}

/** Reads a user's fields. `unpriced` removes prices known before. */
function readModel(value: unknown, place: string): Fields {
  const model = read.record(value, place);
  const isPriced = (model["prices"] ?? null) !== null;
  if ((model["unpriced"] ?? null) === null) return model;
  if (isPriced)
    throw new StrataError(
      "config-invalid",
      `${place} has both prices and unpriced`,
      "remove one of the two",
    );
  return { ...model, prices: null };
}

function newProvider(
  provider: string,
  place: string,
  { routes, unlisted }: Unchanged,
  files: readonly ProviderFile[],
): ProviderFile {
  const spelled = provider.toLowerCase();
  const known = files.find((file) => file.spelledAs.includes(spelled));
  const route = [...routes.values()].find((each) => each.spelledAs.includes(spelled));
  if (known !== undefined || route !== undefined)
    throw new StrataError(
      "config-invalid",
      `${place}.provider is "${provider}", which is another name of ${known?.name ?? route?.name}`,
      known === undefined ? "choose another name" : `write "${known.provider}"`,
    );
  // The name comes before a model's name, up to the first ":" or "/".
  if (!/^[^\s:/]+$/.test(provider))
    throw new StrataError(
      "config-invalid",
      `${place}.provider is ${JSON.stringify(provider)}, but must have no space, ":" or "/"`,
      'choose a name like "garage"',
    );
  return { ...unlisted, provider, name: provider, spelledAs: [spelled] };
}

function notThere(place: string, id: string, files: readonly ProviderFile[]): StrataError {
  const ids = files.flatMap((file) => [...file.models.keys()]);
  const near = nearestNames(id, ids, 3);
  return new StrataError(
    "config-invalid",
    `${place} overrides a model that is not known`,
    near.length === 0
      ? "write it under add"
      : `did you mean ${near.join(", ")}? A new model is written under add`,
  );
}
