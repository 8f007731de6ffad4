// The built-in model facts with the changes from a user's file.
import { readFileSync } from "node:fs";
import { builtInCatalogue, createCatalogue, type Catalogue } from "../../core/models/catalogue.ts";
import { messageOf, StrataError } from "../../core/strata-error.ts";

/** The file holds `{ "add": {…}, "override": {…} }`, in the form of src/core/models/data. */
export function readCatalogue(file: string | undefined): Catalogue {
  if (file === undefined) return builtInCatalogue;
  const changes: unknown = readJson(file);
  if (typeof changes === "object" && changes !== null) {
    return createCatalogue({ ...changes, origin: file });
  }
  const hint = 'write { "add": {}, "override": {} }';
  throw new StrataError("config-invalid", `${file} is not a JSON object`, hint);
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    const message = `${file} cannot be read: ${messageOf(cause)}`;
    throw new StrataError("config-invalid", message, "name a JSON file", { cause });
  }
}
