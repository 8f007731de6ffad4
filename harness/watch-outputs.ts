// Runs before every test file, in its process: whatever the file's tests make the code print, write, send, store or
// throw is searched for planted secrets, and the file fails where one is found. What is not seen here is the runner's
// own output and what is left on the disk (watch-run.ts).
import childProcess, { ChildProcess } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import fs from "node:fs";
import type { ServerResponse } from "node:http";
import { syncBuiltinESMExports } from "node:module";
import { StatementSync } from "node:sqlite";
import type { Readable } from "node:stream";
import { format } from "node:util";
import { afterAll, expect } from "vitest";
import { StrataError } from "../src/core/strata-error.ts";
import { isSpokenOnPurpose } from "./on-purpose.ts";
import {
  createOutputWatch,
  describeLeaks,
  noteLeak,
  noteOutput,
  setTestNamer,
  takeLeaks,
} from "./outputs.ts";
import { searchFiles } from "./search-files.ts";
import { before } from "./wrap.ts";

setTestNamer(() => expect.getState().currentTestName ?? "");

// Registered first, so that it runs last, when the file's own hooks have cleaned up.
afterAll(() => {
  flushErrors();
  const leaks = takeLeaks();
  if (leaks.length > 0) throw new Error(describeLeaks(leaks));
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

/** What other processes print, whether they are waited for or not. */
function watchProcesses(): void {
  // The type does not tell of it; every way to start a process goes through it.
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

/** Listening would make it flow before its reader is there. */
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

/** Its beginning: programs are passed whole on command lines, too. */
function nameProgram(words: readonly string[] = []): string {
  return words.join(" ").replaceAll(/\s+/g, " ").slice(0, 100);
}

/** What a test leaves is gone at its end, and searched before that. */
function watchRemovedFiles(): void {
  before(fs, "rmSync", searchRemoved);
  before(fs, "rm", searchRemoved);
  before(fs.promises, "rm", searchRemoved);
}

function searchRemoved(path: unknown): void {
  if (typeof path !== "string") return;
  for (const found of searchFiles(path)) noteLeak({ ...found, place: found.file });
}

/** What goes into SQLite, also where it is kept in memory only. */
function watchStatements(): void {
  for (const name of ["run", "get", "all", "iterate"] as const) {
    before(StatementSync.prototype, name, (...values) => noteOutput("a row in SQLite", values));
  }
}

/** What servers of ours answer. The module of HTTP is slow to load, and most tests do without. */
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

/** What is asked of providers: a key belongs into a header and nowhere else. */
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

/** Every error of ours, whether somebody looks at it or not. It is whole only after it was made. */
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
