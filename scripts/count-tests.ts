// The end of .ci/run, from the test runner's report: names what failed, then counts. Fails if a test failed or none ran.
import { readFileSync } from "node:fs";

interface TestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numFailedTestSuites: number;
  readonly success: boolean;
  readonly testResults?: readonly FileReport[];
}

interface FileReport {
  readonly name: string;
  readonly status: string;
  readonly message: string;
  readonly assertionResults: readonly {
    readonly fullName: string;
    readonly status: string;
    readonly failureMessages?: readonly string[];
  }[];
}

const noReport: TestReport = {
  numPassedTests: 0,
  numFailedTests: 1,
  numFailedTestSuites: 0,
  success: false,
};

const [path = ""] = process.argv.slice(2);
const report = readReport();
for (const line of (report.testResults ?? []).flatMap(failuresOf)) console.log(line);
// A file that fails to load has no failed test, although none of its tests ran.
const failed =
  report.numFailedTests + (report.numFailedTests === 0 ? report.numFailedTestSuites : 0);
console.log(`${report.numPassedTests} passed, ${failed} failed`);
process.exitCode = report.success && failed === 0 && report.numPassedTests > 0 ? 0 : 1;

/** A runner without a report has failed. */
function readReport(): TestReport {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as TestReport;
  } catch (error) {
    console.error(`the test runner left no report: ${String(error)}`);
    return noReport;
  }
}

function failuresOf(file: FileReport): readonly string[] {
  const tests = file.assertionResults.filter(({ status }) => status === "failed");
  if (tests.length === 0 && file.status === "failed")
    return [`failed: ${file.name}: ${file.message}`];
  return tests.map(
    ({ fullName, failureMessages }) =>
      `failed: ${file.name} > ${fullName}\n${(failureMessages ?? []).join("\n")}`,
  );
}
