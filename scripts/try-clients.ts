// Runs real clients, installed under --dir, through the gateway before the simulator, and says what came of it. See docs/gateway.md.
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { clients } from "./try-clients/clients.ts";
import { renderRow, toRow } from "./try-clients/describe-tried.ts";
import { tryClient, type TryOptions } from "./try-clients/try-client.ts";

const usage =
  "node scripts/try-clients.ts --dir DIR [--optimize] [--pause MINUTES] [--json] [--seconds N] [NAME…]\n" +
  `names: ${clients.map(({ name }) => name).join(", ")}`;

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      dir: { type: "string" },
      optimize: { type: "boolean", default: false },
      pause: { type: "string", default: "0" },
      json: { type: "boolean", default: false },
      seconds: { type: "string", default: "120" },
    },
  });
  const unknown = positionals.find((name) => clients.every((client) => client.name !== name));
  if (
    values.dir === undefined ||
    unknown !== undefined ||
    !(Number(values.seconds) > 0) ||
    !(Number(values.pause) >= 0)
  ) {
    console.error(usage);
    process.exitCode = 2;
  } else {
    const { dir, optimize, pause, json, seconds } = values;
    await tryAll({
      dir: resolve(dir),
      names: positionals,
      isJson: json,
      optimizes: optimize,
      pauseMs: Number(pause) * 60_000,
      msMax: Number(seconds) * 1000,
    });
  }
} catch (error) {
  console.error(`try-clients failed: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}

interface Wanted extends TryOptions {
  /** None for all. */
  readonly names: readonly string[];
  readonly isJson: boolean;
}

async function tryAll({ names, isJson, ...options }: Wanted): Promise<void> {
  for (const client of clients) {
    if (names.length > 0 && !names.includes(client.name)) continue;
    const tried = await tryClient(client, options);
    if (tried === null) {
      console.error(
        `${client.name} is not there: npm install --prefix ${options.dir}/${client.name} ${client.package}`,
      );
      continue;
    }
    const row = toRow(tried);
    console.log(isJson ? JSON.stringify(row) : renderRow(row));
    const isWhole =
      row.different.length === 0 && row.faults === 0 && row.exits.every((exit) => exit === 0);
    if (!isWhole) process.exitCode = 1;
  }
}
