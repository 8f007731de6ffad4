// Says what in docs/requirements.md and SECURITY.md is not true, and fails where something is: files and tests that moved or are gone.
import { readFileSync } from "node:fs";
import { checkPromises, securityPath } from "./requirements/check-promises.ts";
import { checkRequirements, requirementsPath } from "./requirements/check-table.ts";
import { lookIn } from "./requirements/look-in.ts";

const look = lookIn(".");
const problems = [
  ...checkRequirements(readFileSync(requirementsPath, "utf8"), look),
  ...checkPromises(readFileSync(securityPath, "utf8"), look),
];
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
