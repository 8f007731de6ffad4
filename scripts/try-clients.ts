// Runs real clients, installed under --dir, through the gateway before the simulator, and says what came of it. See docs/gateway.md.
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { clients } from "./try-clients/clients.ts";
import { renderRow, toRow } from "./try-clients/describe-tried.ts";
import { tryClient } from "./try-clients/try-client.ts";

const usage =
  "node scripts/try-clients.ts --dir DIR [--json] [--seconds N] [NAME…]\n" +
  `names: ${clients.map(({ name }) => name).join(", ")}`;

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      dir: { type: "string" },
      json: { type: "boolean", default: false },
      seconds: { type: "string", default: "120" },
    },
  });
  const unknown = positionals.find((name) => clients.every((client) => client.name !== name));
  if (values.dir === undefined || unknown !== undefined || !(Number(values.seconds) > 0)) {
    console.error(usage);
    process.exitCode = 2;
  } else {
    const { dir, json, seconds } = values;
    await tryAll({
      dir: resolve(dir),
      names: positionals,
      isJson: json,
      msMax: Number(seconds) * 1000,
    });
  }
} catch (error) {
  console.error(`try-clients failed: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}

interface Wanted {
  readonly dir: string;
  /** None for all. */
  readonly names: readonly string[];
  readonly isJson: boolean;
  readonly msMax: number;
}

async function tryAll({ dir, names, isJson, msMax }: Wanted): Promise<void> {
  for (const client of clients) {
    if (names.length > 0 && !names.includes(client.name)) continue;
    const tried = await tryClient(client, dir, msMax);
    if (tried === null) {
      console.error(
        `${client.name} is not there: npm install --prefix ${dir}/${client.name} ${client.package}`,
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
