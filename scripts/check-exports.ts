// Names the exported values without a sentence, and fails if there are any or if the main entry has more than 60 values.
import { readEntryPoints } from "./api/render-api.ts";

/** A person can still look through this many. */
const mainValuesMax = 60;

const entries = readEntryPoints();
const problems = entries.flatMap(({ name, source, values }, index) => [
  ...(values.length === 0 ? [`${name}: no exported value was found in ${source}`] : []),
  ...(index === 0 && values.length > mainValuesMax
    ? [`${name} exports ${values.length} values, more than ${mainValuesMax}`]
    : []),
  ...values
    .filter(({ sentence }) => !/\w+ \S+/.test(sentence))
    .map((value) => `${name}: ${value.name} has no comment that says what it is for`),
]);
for (const problem of problems) console.error(problem);
console.log(`${entries.length} entry points, ${problems.length} problems`);
process.exitCode = entries.length > 0 && problems.length === 0 ? 0 : 1;
