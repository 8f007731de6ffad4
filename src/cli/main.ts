#!/usr/bin/env node
// The program: checks Node before anything else is loaded, then hands over.
import { enableCompileCache } from "node:module";

const major = Number(process.versions.node.split(".")[0]);
if (major < 24) {
  process.stderr.write(`strata needs Node 24 or later; this is ${process.version}\n`);
  process.exitCode = 8;
} else {
  enableCompileCache();
  await start();
}

async function start(): Promise<void> {
  const { runCli } = await import("./run-cli.ts");
  // `strata models | head` closes our output early; that is no error.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit();
  });
  process.exitCode = await runCli(process.argv.slice(2), {
    out: (text) => void process.stdout.write(text),
    error: (text) => void process.stderr.write(text),
    isTerminal: process.stdout.isTTY && process.env["NO_COLOR"] === undefined,
    env: process.env,
  });
}
