// Turns while providers fail in every way, over three protocols at once on one ledger. Each turn ends with a reply or
// a recorded failure.
import type { ProtocolName } from "../../src/core/wire/protocols.ts";
import { canary, keyWord, playProtocol, type FaultsOptions, type Tally } from "./fault-turns.ts";
import { findInLedger } from "./find-text.ts";
import { openPlace, readAll, startEngine } from "./place.ts";

export interface Faulted {
  readonly turns: number;
  readonly replies: number;
  /** Turns with a partial reply. */
  readonly partials: number;
  /** Failed turns by kind of failure. */
  readonly failures: ReadonlyMap<string, number>;
  /** Faults that hit, by kind. */
  readonly faults: ReadonlyMap<string, number>;
  /** Turns that ended with neither, or whose record differs from their end. */
  readonly unclear: readonly string[];
  /** Results of the ledger's own check. */
  readonly checked: readonly string[];
  /** Places that contain the key. */
  readonly leaks: readonly string[];
  /** Whether the same search finds a text that must be there. */
  readonly isSearchSound: boolean;
}

const spoken: readonly (readonly [ProtocolName, string])[] = [
  ["anthropic-messages", "claude-sonnet-4-6"],
  ["openai-chat", "gpt-5.5"],
  ["openai-responses", "gpt-6.1-sol"],
  ["gemini", "gemini-3.8-flash"],
];

export async function runFaults(options: FaultsOptions): Promise<Faulted> {
  const tally: Tally = {
    turns: 0,
    replies: 0,
    partials: 0,
    failures: new Map(),
    faults: new Map(),
  };
  const leaks: string[] = [];
  const runs = await Promise.all(
    spoken.map(([protocol, model], index) =>
      playProtocol({
        ...options,
        protocol,
        model,
        turns: Math.ceil(options.turns / spoken.length),
        seed: options.seed + index * 1009,
        tally,
        leaks,
      }),
    ),
  );
  const place = openPlace();
  place.configure("{}");
  const looking = await startEngine(place, { store: options.store });
  const { ledger } = looking;
  const checked = await readAll(ledger.check());
  leaks.push(...(await findInLedger(options.store, ledger, keyWord)));
  const isSearchSound = (await findInLedger(options.store, ledger, canary)).length >= 2;
  await looking.close();
  place.close();
  return { ...tally, unclear: runs.flat(), checked, leaks, isSearchSound };
}
