// Prints the last line of .ci/run from the test runner's report; fails if a test failed or none ran.
import { readFileSync } from "node:fs";

interface TestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numFailedTestSuites: number;
  readonly success: boolean;
}

const noReport: TestReport = {
  numPassedTests: 0,
  numFailedTests: 1,
  numFailedTestSuites: 0,
  success: false,
};

const [path = ""] = process.argv.slice(2);
const report = readReport();
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
