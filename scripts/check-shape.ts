// npm run check: imports have no cycles, types included, no file is too small to stand alone, no folder too full, and the
// glossary is short.
import { globSync, readFileSync } from "node:fs";
import { checkGlossary } from "./shape/check-glossary.ts";
import { findCrumbs } from "./shape/find-crumbs.ts";
import { findCycles } from "./shape/find-cycles.ts";
import { findFullFolders } from "./shape/find-full-folders.ts";
import { readSources } from "./shape/read-sources.ts";

const sources = readSources();
const knip: unknown = JSON.parse(readFileSync("knip.json", "utf8"));
const entries = new Set(
  typeof knip === "object" && knip !== null && "entry" in knip && Array.isArray(knip.entry)
    ? knip.entry.filter((each) => typeof each === "string")
    : [],
);
const modules = [
  ...sources.map(({ file }) => file),
  ...globSync("{harness,bench,torture,scripts}/**/*.ts", { exclude: ["**/*.test.ts"] }),
];
const documents = globSync("{src,docs}/**/*.{ts,md}", { exclude: ["docs/glossary.md"] });
const problems = [
  ...findCycles(sources).map((files) => `these import each other: ${files.join(", ")}`),
  ...findCrumbs(sources, entries).map(
    ({ file, importer }) => `${file} has under 30 lines and one importer: move it into ${importer}`,
  ),
  ...findFullFolders(modules).map(
    ({ folder, files: count }) => `${folder} has ${count} files: make folders in it`,
  ),
  ...checkGlossary(
    readFileSync("docs/glossary.md", "utf8"),
    documents.map((file) => readFileSync(file, "utf8")),
  ),
];
for (const problem of problems) console.error(problem);
console.log(`${sources.length} modules, ${problems.length} problems`);
if (problems.length > 0) process.exitCode = 1;
