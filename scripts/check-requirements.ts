// Says what in docs/requirements.md is not true, and fails where something is: files and tests that moved or are gone.
import { readFileSync } from "node:fs";
import { checkRequirements, requirementsPath } from "./requirements/check-table.ts";
import { lookIn } from "./requirements/look-in.ts";

const problems = checkRequirements(readFileSync(requirementsPath, "utf8"), lookIn("."));
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
