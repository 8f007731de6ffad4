// strata inspect: what one session cost, what was lost and why, with its cross-section as one file on wish.
import type { ApiRoutes } from "../../api/client/answers.ts";
import { routeNamed } from "../../api/routes/routes.ts";
import { assert } from "../../core/assert.ts";
import type { Catalogue } from "../../core/models/catalogue.ts";
import { StrataError } from "../../core/strata-error.ts";
import type {
  InspectedCall,
  InspectedFile,
  InspectedSession,
} from "../../dashboard/file/file-data.ts";
import { renderFile } from "../../dashboard/file/render-file.ts";
import { nameSession } from "../../dashboard/words/names.ts";
import { readConfiguredChanges, withChanges } from "../../host/config/catalogue.ts";
import type { CommandBody } from "../command.ts";
import { toJsonLine, toPrintable } from "../ledger/render-ledger.ts";
import { createEventFeed } from "../../edge/stores/ledger/event-feed.ts";
import type { OpenStore } from "../../edge/stores/open-store.ts";
import type { LedgerPlace } from "../../host/ledger/ledger-place.ts";
import { needSession, useLedger } from "../use-ledger.ts";
import { openPageFile } from "../replay/page-file.ts";
import { renderInspected } from "./render-inspected.ts";

export const run: CommandBody = async (input, io) => {
  const [id = ""] = input.operands;
  const path = input.values.get("html");
  const isJson = input.switches.has("json");
  const page = path === undefined ? null : openPageFile(path);
  const warn = (problem: string): void => io.error(`strata: warning: ${toPrintable(problem)}\n`);
  const catalogue = withChanges(await readConfiguredChanges(io.env, warn));
  let isWritten = false;
  const work = async (store: OpenStore, place: LedgerPlace): Promise<number> => {
    await needSession(store.ledger, id, place);
    const read = (session: string): Promise<ApiRoutes["session_picture"]["answer"]> =>
      ask(store, catalogue, "session_picture", { session });
    const { data, left_out_count: leftOutCount } = await read(id);
    if (page !== null) {
      if (data.calls.length === 0) throw noCalls(id);
      const children = data.children.slice(0, childrenMax).map(({ session }) => session);
      const others = await Promise.all(children.map(async (child) => (await read(child)).data));
      const sessions = [data, ...others];
      const details = await readDetails(sessions, (session, call) =>
        ask(store, catalogue, "call", { session, call }),
      );
      const file: InspectedFile = { kind: "inspect", sessions, details, leftOutCount };
      page.write(await renderFile(`${nameSession(data)} · Strata`, file));
      isWritten = true;
    }
    if (isJson) io.out(toJsonLine({ ...data, left_out_count: leftOutCount }));
    else io.out(toPrintable(renderInspected(data, { leftOutCount, page: page?.path ?? null })));
    return 0;
  };
  try {
    return await useLedger(input, io, work);
  } finally {
    if (!isWritten) page?.discard();
  }
};

/** What the API answers, as the owner of the ledger. */
async function ask<Name extends keyof ApiRoutes>(
  { database }: OpenStore,
  catalogue: Catalogue,
  name: Name,
  path: Readonly<Record<string, string>>,
): Promise<ApiRoutes[Name]["answer"]> {
  const read = routeNamed(name)?.read;
  assert(read !== undefined, `the route ${name} reads the ledger`);
  const source = { database, feed: createEventFeed(database), catalogue, nowMs: Date.now() };
  const { body } = await read({ path, query: {}, access: { kind: "owner" } }, source);
  // The answers are made from the same table as the types.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return body as ApiRoutes[Name]["answer"];
}

/** Whose cross-sections are in the file, too. */
const childrenMax = 20;
/** Calls whose bill under other policies is in the file: those with misses first. */
const detailsMax = 400;

async function readDetails(
  sessions: readonly InspectedSession[],
  read: (session: string, call: string) => Promise<{ readonly data: InspectedCall }>,
): Promise<InspectedFile["details"]> {
  const calls = sessions.flatMap(({ session, calls: each }) =>
    each.map(({ call, miss }) => ({ session, call, isMissed: miss !== null })),
  );
  const wanted = [
    ...calls.filter(({ isMissed }) => isMissed),
    ...calls.filter(({ isMissed }) => !isMissed),
  ].slice(0, detailsMax);
  const found: [string, InspectedCall][] = [];
  for (const { session, call } of wanted) {
    const { data } = await read(session, call);
    // The pieces of the prompt are in the picture.
    found.push([`${session}/${call}`, { ...data, blocks: [] }]);
  }
  return Object.fromEntries(found);
}

function noCalls(id: string): StrataError {
  return new StrataError(
    "not-found",
    `session ${id} has no calls, so there is no picture of it`,
    "see: strata sessions --all",
  );
}
