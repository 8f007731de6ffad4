// docs/requirements.md → what in it is not true: rows of another shape, files and tests that are not there.
import {
  findMissing,
  readNamedTests,
  withoutNamedTests,
  type Look,
  type NamedTest,
} from "./named-tests.ts";

export const requirementsPath = "docs/requirements.md";

export interface Requirement {
  readonly id: string;
  /** In one line. */
  readonly asks: string;
  /** Files and folders. */
  readonly where: readonly string[];
  readonly state: RequirementState;
  /** Why it is not simply done; empty where it is. */
  readonly reason: string;
  readonly tests: readonly NamedTest[];
}

/** What the last column of a row begins with; a row that begins with a test is done. */
const statedWith = [
  "in part",
  "differently",
  "without a test",
  "not done",
  "not applicable",
] as const;

export type RequirementState = "done" | (typeof statedWith)[number];

/** Everything that does not hold, a sentence each. */
export function checkRequirements(text: string, look: Look): readonly string[] {
  const { rows, problems } = readRequirements(text);
  return [...problems, ...rows.flatMap(checkShape), ...checkOrder(rows), ...checkFiles(rows, look)];
}

/** Rows by the headings `## M: …` they stand under, in their order. */
export function readRequirements(text: string): {
  readonly rows: readonly Requirement[];
  readonly problems: readonly string[];
} {
  const rows: Requirement[] = [];
  const problems: string[] = [];
  let group = "";
  for (const [index, line] of text.split("\n").entries()) {
    group = /^## ([A-Z]+): /.exec(line)?.[1] ?? group;
    if (group === "" || !line.startsWith("|") || isHead(line)) continue;
    const row = readRow(line);
    if (row === null) problems.push(toProblem(`line ${index + 1}`, "is no row of four cells"));
    else if (!isIdOf(row.id, group))
      problems.push(toProblem(row.id, `does not belong below the heading of ${group}`));
    else rows.push(row);
  }
  return { rows, problems };
}

function isHead(line: string): boolean {
  return /^\| *(?:id|:?-+:?) *\|/.test(line);
}

function isIdOf(id: string, group: string): boolean {
  return id.startsWith(`${group}-`) && /^[A-Z]+-(?:\d+|[A-Z])$/.test(id);
}

function readRow(line: string): Requirement | null {
  const cells = /^\|(.*)\|$/.exec(line.trim())?.[1]?.split("|") ?? [];
  const [id, asks, where, proof] = cells.map((cell) => cell.trim());
  if (cells.length !== 4 || !id || asks === undefined || where === undefined || !proof) return null;
  const said = withoutNamedTests(proof);
  const state = statedWith.find((each) => said.startsWith(`${each}:`)) ?? "done";
  return {
    id,
    asks,
    where: [...where.matchAll(/`([^`]+)`/g)].map(([, path = ""]) => path),
    state,
    reason: state === "done" ? said : said.slice(state.length + 1).trim(),
    tests: readNamedTests(proof),
  };
}

function checkShape({ id, asks, where, state, reason, tests }: Requirement): readonly string[] {
  const problems: string[] = [];
  const report = (what: string): void => void problems.push(toProblem(id, what));
  if (asks === "") report("does not say what it asks");
  if (state === "done" && reason !== "")
    report(`says "${reason}"; begin with a test, or with ${statedWith.join(", ")}`);
  if (state !== "done" && reason === "") report(`is ${state} and does not say why`);
  const isThere = state !== "not done" && state !== "not applicable";
  if (isThere && where.length === 0) report("names no file");
  if (isThere && state !== "without a test" && tests.length === 0) report("names no test");
  if (state === "without a test" && tests.length > 0)
    report("has a test and says that it has none");
  return problems;
}

/** Each id once, and from the smallest on within its group. */
function checkOrder(rows: readonly Requirement[]): readonly string[] {
  return rows.flatMap(({ id }, index) => {
    if (rows.findIndex((row) => row.id === id) < index) return [toProblem(id, "is there twice")];
    const before = rows[index - 1]?.id;
    if (before === undefined || groupOf(before) !== groupOf(id) || isBefore(before, id)) return [];
    return [toProblem(id, `comes after ${before}`)];
  });
}

function groupOf(id: string): string {
  return id.split("-")[0] ?? "";
}

function isBefore(left: string, right: string): boolean {
  const [from = "", to = ""] = [left, right].map((id) => id.split("-")[1] ?? "");
  return /^\d+$/.test(from) ? Number(from) < Number(to) : from < to;
}

function checkFiles(rows: readonly Requirement[], look: Look): readonly string[] {
  return rows.flatMap(({ id, where, tests }) =>
    findMissing({ files: where, tests }, look).map((what) => toProblem(id, what)),
  );
}

function toProblem(id: string, what: string): string {
  return `${requirementsPath}: ${id} ${what}`;
}
