// strata config check: a configuration against its rules, as CI would ask.
import { basename, resolve } from "node:path";
import { styleText } from "node:util";
import { describeOrigin } from "../../core/config/config-node.ts";
import {
  describeProblem,
  distinctProblems,
  type ConfigProblem,
} from "../../core/config/config-problem.ts";
import { inWorkspace } from "../../core/config/workspace-file.ts";
import { exitStatusOf, StrataError } from "../../core/strata-error.ts";
import { configFileName, type ConfigPlace } from "../../edge/config/find-config-files.ts";
import { loadConfig } from "../../edge/config/load-config.ts";
import type { ConfigFile } from "../../edge/config/read-config-file.ts";
import { findConfigPlaces } from "../../host/config/read-config-once.ts";
import type { CommandBody, CommandInput, Io } from "../command.ts";
import { describePlace, readConfigPlaces, withIncluded, type PlaceState } from "./config-places.ts";
import { toJsonLine, toPrintable } from "../ledger/render-ledger.ts";

export const run: CommandBody = async (input, io) => {
  const { files, env, places } = whatToCheck(input, io);
  const states = (await Promise.all((await withIncluded(places)).map(describePlace))).filter(
    isThere,
  );
  const { problems: own, filesThere } = await loadConfig({ files, env });
  const problems = distinctProblems([...own, ...(await ifFound(files, io))]);
  const errors = problems.filter(({ severity }) => severity === "error").length;
  if (input.switches.has("json")) {
    const described = problems.map(describe);
    io.out(toJsonLine({ ok: errors === 0, files: filesThere, states, problems: described }));
  } else {
    const lines = [...problems.map(render), ...states.map(renderState)];
    io.out(`${[...lines, summarise(filesThere, errors)].join("\n")}\n`);
  }
  return errors === 0 ? 0 : exitStatusOf["config-invalid"];
};

/** A single file is checked without variables, so the result is the same on every machine. */
function whatToCheck(input: CommandInput, io: Io): Checked {
  const [given] = input.operands;
  if (given === undefined) {
    const places = readConfigPlaces(input, io);
    return { files: places, env: io.env, places };
  }
  if (input.values.has("config") || input.values.has("workspace")) {
    throw new StrataError("usage", "FILE is checked by itself", "leave out the options, or FILE");
  }
  return { files: [{ path: resolve(given), isFound: false, isNamed: true }], env: {}, places: [] };
}

interface Checked {
  readonly files: readonly ConfigFile[];
  readonly env: Io["env"];
  /** The files that Strata looks for; none if one file is checked by itself. */
  readonly places: readonly ConfigPlace[];
}

function isThere({ state }: PlaceState): boolean {
  return state !== "missing";
}

function renderState({ path, state, reason, rights }: PlaceState): string {
  return `${state.padEnd(7)}  ${toPrintable(path)} (${reason}; may set ${rights})`;
}

/** A file named strata.yaml is also checked against the limits for workspace files. */
async function ifFound(files: readonly ConfigFile[], { env }: Io): Promise<ConfigProblem[]> {
  const [file, ...more] = files;
  if (file?.isNamed !== true || more.length > 0) return [];
  if (basename(file.path) !== configFileName || file.path === ownFile(env)) return [];
  const { problems } = await loadConfig({ files: [{ ...file, isFound: true }], env: {} });
  const refused = problems.filter(({ message }) => message.includes(inWorkspace));
  return refused.map((problem) => ({ ...problem, severity: "warning" }));
}

function ownFile(env: Io["env"]): string | undefined {
  const { STRATA_CONFIG: _named, ...others } = env;
  return findConfigPlaces({ env: others, workspace: "/" }).find(({ isFound }) => !isFound)?.path;
}

function describe({ severity, origin, message, hint }: ConfigProblem): unknown {
  return { severity, origin, from: describeOrigin(origin), message, hint };
}

function render(problem: ConfigProblem): string {
  const mark =
    problem.severity === "error" ? styleText("red", "error  ") : styleText("yellow", "warning");
  return `${mark}  ${toPrintable(describeProblem(problem))}`;
}

function summarise(files: readonly string[], errors: number): string {
  const what = files.length === 0 ? "no file, only defaults" : files.map(toPrintable).join(", ");
  if (errors === 0) return `${styleText("green", "ok")}: ${what}`;
  return `${errors} ${errors === 1 ? "error" : "errors"}: ${what}`;
}
