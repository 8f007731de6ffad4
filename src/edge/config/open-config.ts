// A configuration that follows its files: checked when a call begins, read again when one has changed.
import { homedir } from "node:os";
import {
  describeProblem,
  distinctProblems,
  toConfigError,
  type ConfigProblem,
} from "../../core/config/config-problem.ts";
import type { ConfigNode } from "../../core/config/config-node.ts";
import { readConfig, type ConfigSources, type ReadConfig } from "../../core/config/read-config.ts";
import type { StrataConfig } from "../../core/config/schema.ts";
import { StrataError, messageOf } from "../../core/strata-error.ts";
import { loadConfig } from "./load-config.ts";
import type { ConfigFile } from "./read-config-file.ts";
import { watchFile, type WatchedFile } from "./watch-file.ts";

export interface LiveConfig {
  /**
   * The current configuration, with every change made before this call; the same object while nothing changes.
   * Never fails: a broken file leaves the old settings. Costs a check of each file.
   */
  current(): Promise<StrataConfig>;
  /** The last result of `current`, with the origin of every value. */
  latest(): ReadConfig;
  /** The paths of all files, with those that are included, whether they exist or not. */
  files(): readonly string[];
}

export interface OpenConfigOptions extends Omit<ConfigSources, "files"> {
  /** The weakest first. */
  readonly files: readonly ConfigFile[];
  /** Called once per change with errors and warnings. */
  readonly onProblem?: (problem: StrataError) => void;
}

/** Throws if the first reading fails; a later failure leaves the old settings. */
export async function openConfig(options: OpenConfigOptions): Promise<LiveConfig> {
  const files = await Promise.all(options.files.map((file) => watchFile(file)));
  let latest = combine(rootsOf(files), options);
  if (latest.config === null || errorsOf(files).length > 0) {
    const { problems } = await loadConfig(options);
    throw toConfigError(problems.filter(({ severity }) => severity === "error"));
  }
  let { config } = latest;
  let inEffect = rootsOf(files);
  const report = createReporter(options.onProblem ?? (() => {}));
  report([], latest.problems);

  const refresh = async (): Promise<StrataConfig> => {
    try {
      const changed = await findChanged(files);
      if (changed.length === 0) return config;
      const roots = rootsOf(files);
      const next = combine(roots, options);
      report(errorsOf(changed), next.problems);
      // A found file that does not fit the others must not hold back changes of the user's own files.
      const isFound = (index: number): boolean => options.files[index]?.isFound === true;
      const own = roots.map((root, index) => (isFound(index) ? (inEffect[index] ?? []) : root));
      for (const tried of [roots, own]) {
        const read = tried === roots ? next : combine(tried, options);
        if (read.config === null) continue;
        [latest, config, inEffect] = [read, read.config, tried];
        break;
      }
    } catch (error) {
      report([unexpected(error)], latest.problems);
    }
    return config;
  };
  // One check at a time. Callers before its start share it; later callers get the next one.
  let tail: Promise<unknown> = Promise.resolve();
  let waiting: Promise<StrataConfig> | null = null;
  return {
    current: () => {
      if (waiting !== null) return waiting;
      const next = tail.then(() => {
        waiting = null;
        return refresh();
      });
      waiting = next;
      tail = next;
      return next;
    },
    latest: () => latest,
    files: () => files.flatMap((each) => each.files().map(({ file }) => file.path)),
  };
}

async function findChanged(files: readonly WatchedFile[]): Promise<readonly WatchedFile[]> {
  const looked = await Promise.all(files.map(async (file) => ((await file.look()) ? [file] : [])));
  return looked.flat();
}

/** The last usable contents of each file. */
function rootsOf(files: readonly WatchedFile[]): readonly (readonly ConfigNode[])[] {
  return files.map((file) => file.roots());
}

function combine(
  roots: readonly (readonly ConfigNode[])[],
  options: OpenConfigOptions,
): ReadConfig {
  return readConfig({ homeFolder: homedir(), ...options, files: roots.flat() });
}

/** Warnings are found again when everything is read together. */
function errorsOf(files: readonly WatchedFile[]): readonly ConfigProblem[] {
  return files.flatMap((file) => file.problems().filter(({ severity }) => severity === "error"));
}

type Report = (ofFiles: readonly ConfigProblem[], ofAll: readonly ConfigProblem[]) => void;

/** Reports problems of a file whenever it changes, and problems of all files together when they are new. */
function createReporter(onProblem: (problem: StrataError) => void): Report {
  let reported: ReadonlySet<string> = new Set();
  return (ofFiles, ofAll) => {
    const isNew = (problem: ConfigProblem): boolean => !reported.has(describeProblem(problem));
    const fresh = distinctProblems([...ofFiles, ...ofAll.filter(isNew)]);
    reported = new Set(ofAll.map(describeProblem));
    const errors = fresh.filter(({ severity }) => severity === "error");
    const warnings = fresh.filter(({ severity }) => severity === "warning");
    const all = [...(errors.length === 0 ? [] : [stillHolds(errors)]), ...warnings.map(toWarning)];
    for (const problem of all) {
      try {
        onProblem(problem);
      } catch {
        // A listener's error must not end a turn.
      }
    }
  };
}

function stillHolds(errors: readonly ConfigProblem[]): StrataError {
  const { code, message, hint } = toConfigError(errors);
  return new StrataError(code, `${message}\nwhat was configured before still holds`, hint);
}

function toWarning(problem: ConfigProblem): StrataError {
  return toConfigError([problem]);
}

function unexpected(error: unknown): ConfigProblem {
  const message = `the configuration could not be read: ${messageOf(error)}`;
  const origin = { kind: "default" } as const;
  return { severity: "error", origin, message, hint: "this is a mistake of Strata's own" };
}
