// SECURITY.md → what in it is not true: promises without a test, and tests that are not there.
import { findMissing, readNamedTests, type Look } from "./named-tests.ts";

export const securityPath = "SECURITY.md";

/** The first word of a heading below which every row of a table is a promise and the tests that show it. */
const promised = /^## What is promised/;

/** Everything that does not hold, a sentence each. */
export function checkPromises(text: string, look: Look): readonly string[] {
  return readPromises(text).flatMap(({ promise, proof }) => {
    const tests = readNamedTests(proof);
    const problems =
      tests.length === 0 ? ["names no test"] : findMissing({ files: [], tests }, look);
    return problems.map((problem) => `${securityPath}: "${promise}" ${problem}`);
  });
}

/** The rows of the tables of promises. */
export function readPromises(
  text: string,
): readonly { readonly promise: string; readonly proof: string }[] {
  let isPromised = false;
  return text.split("\n").flatMap((line) => {
    if (line.startsWith("## ")) isPromised = promised.test(line);
    const [, promise = "", proof = ""] = line.split("|").map((cell) => cell.trim());
    const isRow = line.startsWith("|") && promise !== "promise" && !/^:?-+:?$/.test(promise);
    return isPromised && isRow ? [{ promise, proof }] : [];
  });
}
