// Loads a package that is installed only where it is needed.
import { StrataError } from "../../core/strata-error.ts";

export interface OptionalPackages {
  readonly names: readonly string[];
  /** A sentence without its full stop. */
  readonly purpose: string;
  /** What to do instead of installing them. */
  readonly otherwise: string;
}

/** Throws for the caller if the package is missing; other errors of loading are its own. */
export async function loadOptional<Module>(
  load: () => Promise<Module>,
  { names, purpose, otherwise }: OptionalPackages,
): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    if (!isMissing(error)) throw error;
    const those = names.length === 1 ? "is" : "are";
    throw new StrataError(
      "environment-unfit",
      `${purpose}, and ${names.join(" and ")} ${those} not installed`,
      `npm install ${names.join(" ")}, or ${otherwise}`,
      { cause: error },
    );
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
}
