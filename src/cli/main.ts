#!/usr/bin/env node
// The program: checks Node before anything else is loaded, then hands over.
// A namespace, because an older Node stops at a named import it does not have, before it can say why.
import * as nodeModule from "node:module";

const major = Number(process.versions.node.split(".")[0]);
if (major < 24) {
  process.stderr.write(`strata needs Node 24 or later; this is ${process.version}\n`);
  process.exitCode = 8;
} else {
  nodeModule.enableCompileCache();
  await start();
}

async function start(): Promise<void> {
  const { runCli } = await import("./run-cli.ts");
  const ends: (() => Promise<unknown>)[] = [];
  let isEnding = false;
  const end = (status: number): void => {
    if (isEnding) return;
    isEnding = true;
    const exit = (): never => process.exit(status);
    // Whatever has not ended by then is abandoned.
    setTimeout(exit, 10_000).unref();
    void Promise.allSettled(ends.map((each) => each())).then(exit);
  };
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      // `strata models | head` closes our output early; that is not an error.
      if (error.code === "EPIPE") return end(Number(process.exitCode ?? 0));
      if (stream === process.stdout && !isEnding) {
        process.stderr.write(
          `strata: the output cannot be written: ${error.message}\n  free some disk space, or write it somewhere else\n`,
        );
      }
      end(8);
    });
  }
  process.exitCode = await runCli(process.argv.slice(2), {
    out: (text) => void process.stdout.write(text),
    error: (text) => void process.stderr.write(text),
    env: process.env,
    whenGone: (each) => void ends.push(each),
  });
}
