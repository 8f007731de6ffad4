// The modules of the product and what each imports, types included.
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

export interface Source {
  readonly file: string;
  readonly lines: number;
  /** Modules of ours that it imports, statically or lazily, values or types. */
  readonly imports: readonly string[];
}

export function readSources(): readonly Source[] {
  return globSync("src/**/*.{ts,tsx}", { exclude: ["**/*.test.ts", "**/test-kit.ts"] })
    .map((file) => toSource(file, readFileSync(file, "utf8")))
    .toSorted((one, other) => (one.file < other.file ? -1 : 1));
}

export function toSource(file: string, code: string): Source {
  const found = [...code.matchAll(/(?:from|import)[ (]+"(\.[^"]+\.tsx?)"/g)].map(([, path]) =>
    normalize(join(dirname(file), path ?? "")),
  );
  const imports = [...new Set(found)].filter((path) => path !== file);
  return { file, lines: code.split("\n").length - 1, imports };
}
