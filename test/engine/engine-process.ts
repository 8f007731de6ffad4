// An engine in a process of its own, as configured in a folder: does what it is told, one order at a time.
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import type { EngineSession } from "../../src/engine/session/engine-session.ts";
import { startEngine, type Place, type Started } from "../../torture/engine/place.ts";

/** Comes first. It may hold a password, which does not belong into the words of a command. */
export interface ProcessTask {
  readonly place: Pick<Place, "workspace" | "configFile" | "folder">;
  readonly store: string;
}

/** Without words: goes on with the turn that another process left open. Its lease is good for long, but nobody holds it any more. */
export interface Order {
  readonly sessionId: string;
  readonly words: string | null;
}

export type Answer = { readonly end: string } | { readonly error: string };

const [{ place, store }] = (await once(process, "message")) as [ProcessTask];
const started = await startEngine(place, { store });

process.on("message", (order: Order) => {
  void obey(order, started).then(
    (end) => process.send?.({ end } satisfies Answer),
    (error: unknown) => process.send?.({ error: String(error) } satisfies Answer),
  );
});
process.send?.({ end: "ready" } satisfies Answer);

async function obey(
  { sessionId, words }: Order,
  { engine, ledger, events }: Started,
): Promise<string> {
  const isKnown = (await ledger.findSession(sessionId)) !== null;
  if (words === null) {
    while ((await ledger.findUnfinished(sessionId)) === null) await wait(20);
  }
  // As the ledger has it: another process may have gone on with it.
  const session: EngineSession = isKnown
    ? await engine.resume(sessionId)
    : await engine.open({ id: sessionId });
  const { end } = await (words === null ? session.resume() : session.run(words)).result;
  await session.close();
  await events.flush();
  return end;
}
