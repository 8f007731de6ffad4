// The built-in model facts with the changes from a user's file.
import { readFileSync } from "node:fs";
import { builtInCatalogue, createCatalogue, type Catalogue } from "../core/models/catalogue.ts";
import { StrataError, messageOf } from "../core/strata-error.ts";

/** The file holds `{ "add": {…}, "override": {…} }`, in the form of src/core/models/data. */
export function readCatalogue(file: string | undefined): Catalogue {
  if (file === undefined) return builtInCatalogue;
  const changes: unknown = readJson(file);
  if (typeof changes !== "object" || changes === null) {
    throw new StrataError(
      "config-invalid",
      `${file} is not a JSON object`,
      'write { "add": {}, "override": {} }',
    );
  }
  return createCatalogue({ ...changes, origin: file });
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    const reason = messageOf(cause);
    throw new StrataError(
      "config-invalid",
      `${file} cannot be read: ${reason}`,
      "name a JSON file",
      {
        cause,
      },
    );
  }
}
