// npm run check: imports have no cycles, types included, and no file is too small to stand alone.
import { readFileSync } from "node:fs";
import { findCrumbs } from "./shape/find-crumbs.ts";
import { findCycles } from "./shape/find-cycles.ts";
import { readSources } from "./shape/read-sources.ts";

const sources = readSources();
const knip: unknown = JSON.parse(readFileSync("knip.json", "utf8"));
const entries = new Set(
  typeof knip === "object" && knip !== null && "entry" in knip && Array.isArray(knip.entry)
    ? knip.entry.filter((each) => typeof each === "string")
    : [],
);
const problems = [
  ...findCycles(sources).map((files) => `these import each other: ${files.join(", ")}`),
  ...findCrumbs(sources, entries).map(
    ({ file, importer }) => `${file} has under 30 lines and one importer: move it into ${importer}`,
  ),
];
for (const problem of problems) console.error(problem);
console.log(`${sources.length} modules, ${problems.length} problems`);
if (problems.length > 0) process.exitCode = 1;
