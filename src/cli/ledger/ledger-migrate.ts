// strata ledger migrate: brings a ledger to this program's schema, or says what that would do.
import { migrate, readSchema, type Migrated } from "../../edge/stores/sql/migrate.ts";
import { migrations } from "../../edge/stores/sql/migrations.ts";
import { closing, openUnmigrated } from "../../edge/stores/open-store.ts";
import { openDatabase } from "../../edge/stores/open-ledger.ts";
import type { CommandBody, Io } from "../command.ts";
import { printResult } from "./render-ledger.ts";
import type { LedgerPlace } from "../../host/ledger/ledger-place.ts";
import { atPlace, createOnProblem } from "../use-ledger.ts";

export const run: CommandBody = (input, io) =>
  atPlace(input, io, async (place) => {
    const isDry = input.switches.has("dry-run");
    const result = isDry ? await lookAhead(place) : await bringUpToDate(place, io);
    return printResult(input, io, {
      value: { store: place.name, ...result, changed: !isDry && result.from < result.to },
      text: render(place.name, result, isDry),
    });
  });

interface Steps extends Migrated {
  readonly steps: readonly { readonly number: number; readonly name: string }[];
}

async function bringUpToDate({ where }: LedgerPlace, io: Io): Promise<Steps> {
  const database = await openDatabase(where, { onProblem: createOnProblem(io) });
  return closing(database, async () => withSteps(await migrate(database, Date.now())));
}

async function lookAhead({ where }: LedgerPlace): Promise<Steps> {
  const to = migrations.at(-1)?.number ?? 0;
  const database = await openUnmigrated(where);
  if (database === null) return withSteps({ from: 0, to });
  return closing(database, async () => {
    const from = (await readSchema(database)) ?? 0;
    // migrate refuses a newer ledger before it changes anything.
    return withSteps(from > to ? await migrate(database, Date.now()) : { from, to });
  });
}

function withSteps({ from, to }: Migrated): Steps {
  const steps = migrations
    .filter(({ number }) => number > from)
    .map(({ number, name }) => ({ number, name }));
  return { from, to, steps };
}

function render(name: string, { from, to, steps }: Steps, isDry: boolean): string {
  if (from === to) return `${name} has schema ${to}, which is the latest.\n`;
  const start = from === 0 ? "holds no ledger yet" : `has schema ${from}`;
  const list = steps.map((step) => `  ${step.number}  ${step.name}\n`).join("");
  return isDry
    ? `${name} ${start}; opening it makes schema ${to}, in ${steps.length === 1 ? "one step" : `${steps.length} steps`}. Nothing was changed.\n${list}`
    : `${name}: schema ${from} → ${to}\n${list}`;
}
