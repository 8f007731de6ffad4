// Runs before every test file, in its process. Searches everything the code prints, writes, sends, stores or throws
// for planted secrets, and fails the file if it finds one, or if the file leaves something behind for the next one.
// watch-run.ts covers the runner's own output and files left on disk.
import childProcess, { ChildProcess } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import fs from "node:fs";
import type { ServerResponse } from "node:http";
import { syncBuiltinESMExports } from "node:module";
import { StatementSync } from "node:sqlite";
import type { Readable } from "node:stream";
import { format } from "node:util";
import { afterAll, expect } from "vitest";
import { StrataError } from "../../src/core/strata-error.ts";
import { isSpokenOnPurpose } from "./on-purpose.ts";
import {
  createOutputWatch,
  describeLeaks,
  noteLeak,
  noteOutput,
  setTestNamer,
  takeLeaks,
} from "./outputs.ts";
import { describeProcess, findLeftovers } from "./leftovers.ts";
import { searchFiles } from "./search-files.ts";
import { before } from "./wrap.ts";

setTestNamer(() => expect.getState().currentTestName ?? "");

const atStart = describeProcess();

// Registered first, so it runs last, after the file's own hooks.
afterAll(async () => {
  flushErrors();
  const leaks = takeLeaks();
  if (leaks.length > 0) throw new Error(describeLeaks(leaks));
  const left = await findLeftovers(atStart);
  if (left.length > 0) throw new Error(`the tests left behind: ${left.join(", ")}`);
});

watchErrors();

const watched = Symbol.for("strata.outputs are watched");
if (!(watched in globalThis)) {
  Object.assign(globalThis, { [watched]: true });
  watchPrinting();
  watchProcesses();
  watchRemovedFiles();
  watchStatements();
  watchServers();
  watchRequests();
  syncBuiltinESMExports();
}

function watchPrinting(): void {
  for (const stream of [process.stdout, process.stderr]) {
    before(stream, "write", createOutputWatch("what a test process prints"));
  }
  for (const name of ["out", "error"]) {
    const watch = createOutputWatch(`standard ${name} of a command`);
    subscribe(`strata.test.${name}`, watch);
  }
  for (const name of ["log", "info", "warn", "error", "debug", "trace", "dir"] as const) {
    before(console, name, (...words) => noteOutput(`console.${name}`, format(...words)));
  }
}

/** Searches the output of child processes, awaited or not. */
function watchProcesses(): void {
  // Not in the types; every way to start a process goes through it.
  const prototype = ChildProcess.prototype as unknown as Record<"spawn", (how: Spawning) => number>;
  const { spawn } = prototype;
  prototype.spawn = function (this: ChildProcess, how: Spawning): number {
    const status = spawn.call(this, how);
    for (const [name, stream] of [
      ["output", this.stdout],
      ["errors", this.stderr],
    ] as const) {
      if (stream) watchStream(stream, `standard ${name} of ${nameProgram(how.args)}`);
    }
    return status;
  };
  const { spawnSync, execFileSync, execSync } = childProcess;
  Object.assign(childProcess, {
    spawnSync: (...words: Parameters<typeof spawnSync>) => {
      const ran = spawnSync(...words);
      const [program, args] = words;
      noteOutput(`output of ${nameProgram([program, ...toList(args)])}`, ran.output);
      return ran;
    },
    execFileSync: (...words: Parameters<typeof execFileSync>) =>
      noting(`output of ${nameProgram([words[0], ...toList(words[1])])}`, () =>
        execFileSync(...words),
      ),
    execSync: (...words: Parameters<typeof execSync>) =>
      noting(`output of ${words[0]}`, () => execSync(...words)),
  });
}

interface Spawning {
  readonly args?: readonly string[];
}

function toList(words: unknown): readonly string[] {
  return Array.isArray(words) ? words.map(String) : [];
}

/** Wraps instead of listening, because a listener would start the stream before its reader exists. */
function watchStream(stream: Readable, place: string): void {
  before(stream, "push", createOutputWatch(place));
}

function noting<Result>(place: string, run: () => Result): Result {
  try {
    const result = run();
    noteOutput(place, result);
    return result;
  } catch (error) {
    if (error instanceof Error && "output" in error) noteOutput(place, error.output);
    throw error;
  }
}

/** Only the beginning, because whole programs are passed on command lines. */
function nameProgram(words: readonly string[] = []): string {
  return words.join(" ").replaceAll(/\s+/g, " ").slice(0, 100);
}

/** Searches files before a test removes them. */
function watchRemovedFiles(): void {
  before(fs, "rmSync", searchRemoved);
  before(fs, "rm", searchRemoved);
  before(fs.promises, "rm", searchRemoved);
}

function searchRemoved(path: unknown): void {
  if (typeof path !== "string") return;
  for (const found of searchFiles(path)) noteLeak({ ...found, place: found.file });
}

/** Searches everything written to SQLite, including in-memory databases. */
function watchStatements(): void {
  for (const name of ["run", "get", "all", "iterate"] as const) {
    before(StatementSync.prototype, name, (...values) => noteOutput("a row in SQLite", values));
  }
}

/** Searches the answers of our servers. Loads node:http lazily, because it is slow and most tests do not need it. */
function watchServers(): void {
  subscribe("http.server.request.start", (message) => {
    const { response } = message as { readonly response: ServerResponse };
    for (const name of ["write", "end"] as const) {
      before(response, name, (body) => {
        if (isSpokenOnPurpose(response)) return;
        noteOutput("an answer of an HTTP server", [body, response.getHeaders()]);
      });
    }
  });
}

/** Searches requests to providers: a key belongs in a header only. */
function watchRequests(): void {
  subscribe("undici:request:create", (message) => {
    const { request } = message as { readonly request: { readonly path: string } };
    noteOutput("the address of a request", request.path);
  });
  subscribe("undici:request:bodyChunkSent", (message) => {
    const { chunk } = message as { readonly chunk: unknown };
    noteOutput("the body of a request", chunk);
  });
}

/** Searches every StrataError, after construction, even if it is never caught. */
function watchErrors(): void {
  Object.setPrototypeOf(
    StrataError,
    class extends Error {
      constructor(message: string, options?: ErrorOptions) {
        super(message, options);
        errors.push(this);
        if (errors.length === 1) queueMicrotask(flushErrors);
      }
    },
  );
}

const errors: Error[] = [];

function flushErrors(): void {
  for (const error of errors.splice(0)) {
    const { message, hint } = error as StrataError;
    noteOutput("an error", [message, hint, ...causesOf(error)]);
  }
}

function causesOf({ cause }: Error): readonly string[] {
  return cause instanceof Error ? [cause.message, ...causesOf(cause)] : [];
}
