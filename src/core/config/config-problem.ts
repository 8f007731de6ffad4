// Problems of a configuration, each with its place and a hint.
import { StrataError } from "../strata-error.ts";
import type { Origin } from "./config-node.ts";

export interface ConfigProblem {
  /** A warning leaves the configuration usable. */
  readonly severity: "error" | "warning";
  readonly origin: Origin;
  /** Holds no secret. */
  readonly message: string;
  readonly hint: string;
}

/** `strata.yaml:12:5: … is not a setting; did you mean …?` */
export function describeProblem({ origin, message, hint }: ConfigProblem): string {
  const place = describePlace(origin);
  return `${place === "" ? "" : `${place}: `}${message}; ${hint}`;
}

export function hasErrors(problems: readonly ConfigProblem[]): boolean {
  return problems.some(({ severity }) => severity === "error");
}

/** Each problem once; file by file, from top to bottom. */
export function distinctProblems(problems: readonly ConfigProblem[]): readonly ConfigProblem[] {
  const known = new Map(problems.map((problem) => [describeProblem(problem), problem]));
  const files = [...new Set(problems.map(({ origin }) => fileOf(origin)))];
  return [...known.values()].toSorted(
    (left, right) =>
      files.indexOf(fileOf(left.origin)) - files.indexOf(fileOf(right.origin)) ||
      lineOf(left.origin) - lineOf(right.origin),
  );
}

/** One error for all of them. */
export function toConfigError(problems: readonly ConfigProblem[]): StrataError {
  const [first, ...more] = problems;
  if (first !== undefined && more.length === 0) {
    const place = describePlace(first.origin);
    const message = place === "" ? first.message : `${place}: ${first.message}`;
    return new StrataError("config-invalid", message, first.hint);
  }
  const lines = problems.slice(0, listedMax).map((problem) => `  ${describeProblem(problem)}`);
  const left = problems.length - lines.length;
  const rest = left === 0 ? [] : [`  … and ${left} more`];
  return new StrataError(
    "config-invalid",
    [`the configuration has ${problems.length} problems:`, ...lines, ...rest].join("\n"),
    "fix them; strata config check lists what is left",
  );
}

const listedMax = 50;

function describePlace(origin: Origin): string {
  switch (origin.kind) {
    case "default":
      return "";
    case "file":
      return `${origin.file}:${origin.line}:${origin.column}`;
    case "environment":
    case "option":
      return origin.name;
  }
}

function fileOf(origin: Origin): string {
  return origin.kind === "file" ? origin.file : "";
}

function lineOf(origin: Origin): number {
  return origin.kind === "file" ? origin.line : 0;
}
