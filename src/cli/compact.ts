// strata compact: shows what a fold would do, and does it.
import { StrataError } from "../core/strata-error.ts";
import type { OpenStore } from "../edge/stores/open-store.ts";
import { planCompaction } from "../engine/compact-session.ts";
import { limitsOf } from "../engine/decide.ts";
import { prepareCall } from "../engine/prepare-call.ts";
import type { CommandBody, CommandInput, Io } from "./command.ts";
import { canAsk, confirm } from "./confirm.ts";
import { foldRecorded } from "./fold-recorded.ts";
import { needSession } from "./need-session.ts";
import { describePlan, type Planned } from "./planned-fold.ts";
import { createProgress } from "./progress.ts";
import { readCatalogue } from "./read-catalogue.ts";
import { askToFold, renderPlan } from "./render-compaction.ts";
import {
  renderFoldFacts,
  renderRecall,
  toFoldJson,
  type Recall,
  type ShownFold,
} from "./render-fold.ts";
import { toJsonLine } from "./render-ledger.ts";
import { refuseBusy, resumeRecorded, type Resumed } from "./resume-recorded.ts";
import { chooseWriter, openWriter, type OpenWriter, type Writer } from "./summary-writer.ts";
import { useLedger } from "./use-ledger.ts";

export const run: CommandBody = (input, io) => {
  const [id = ""] = input.operands;
  checkWish(input);
  const catalogue = readCatalogue(input.values.get("models"));
  return useLedger(input, io, async (store, place) => {
    const record = await needSession(store.ledger, id, place);
    await refuseBusy(store, record);
    const resumed = await resumeRecorded(store.ledger, record, catalogue);
    const wish = {
      isModelWanted: !input.switches.has("no-model"),
      summarizer: input.values.get("summarizer"),
    };
    const writer = chooseWriter(wish, resumed.session, { env: io.env, catalogue });
    const open = await openWriter(writer, createProgress(io, ""));
    try {
      return await compact({ input, io, store, resumed, writer, open });
    } finally {
      await open.close();
    }
  });
};

interface Work {
  readonly input: CommandInput;
  readonly io: Io;
  readonly store: OpenStore;
  readonly resumed: Resumed;
  readonly writer: Writer;
  readonly open: OpenWriter;
}

async function compact(work: Work): Promise<number> {
  const { input, io, store, resumed, writer, open } = work;
  const { switches, values } = input;
  const isJson = switches.has("json");
  const isGiven = switches.has("yes");
  const planned = await plan(work);
  if (planned.kind === "nothing" || switches.has("dry-run")) {
    io.out(isJson ? toJsonLine({ plan: planned, fold: null }) : renderAll(planned, writer));
    return 0;
  }
  // With --json, one value is printed; whoever is asked sees the plan all the same.
  (isJson ? io.error : io.out)(renderAll(planned, writer));
  refuseUnasked(writer, planned.sessionId, isGiven);
  if (!(await confirm(askToFold(planned), isGiven))) {
    io.error("Nothing was changed.\n");
    return 0;
  }
  const focus = values.get("focus");
  const wish = {
    mayAskModel: writer.kind === "model",
    ...(focus === undefined ? {} : { focus }),
  };
  const edges = { ...open.edges, ledger: store.ledger };
  const fold = await foldRecorded(resumed.session, wish, edges, io);
  io.out(
    isJson
      ? toJsonLine({ plan: planned, fold: toFoldJson(fold) })
      : `\n${renderFoldFacts(fold)}\n${renderRecall(recallOf(work, fold))}`,
  );
  return 0;
}

async function plan({ store, resumed, writer, open }: Work): Promise<Planned> {
  const { session, callsPerTurn } = resumed;
  const { compaction } = open.edges;
  const nowMs = Date.now();
  const edges = { ledger: store.ledger, now: () => nowMs };
  const found = await planCompaction(
    session,
    compaction === undefined ? edges : { ...edges, compaction },
  );
  const prepared = prepareCall({ session, current: [], volatile: null, startMs: nowMs });
  const { keepTokens } = limitsOf({ session, prepared, nowMs, compaction });
  return describePlan(found, {
    sessionId: session.id,
    model: session.model,
    writer: writer.kind === "model" ? writer.model.id : null,
    nowMs,
    foundationTokens: session.thread.foundation.end.tokens,
    keepTokens,
    callsPerTurn,
  });
}

function recallOf({ resumed: { session } }: Work, { turnId: foldId }: ShownFold): Recall {
  const tools = session.thread.foundation.tools.map(({ name }) => name);
  const canRecall = tools.includes("history_search") && tools.includes("history_read");
  return { sessionId: session.id, foldId, headTurnId: session.headTurnId, canRecall };
}

/** With what is missing where a summary is wanted and cannot be had. */
function renderAll(planned: Planned, writer: Writer): string {
  const isMissing = writer.kind === "nobody" && writer.missing !== null;
  const missing =
    planned.kind === "fold" && isMissing
      ? `\nNo model can be asked for a summary: ${writer.missing}. Without one, which --no-model asks for, this outline and index stand for what is folded.\n`
      : "";
  return `${renderPlan(planned)}${missing}`;
}

/** Nobody gets an outline who wanted a summary and is not asked. */
function refuseUnasked(writer: Writer, id: string, isGiven: boolean): void {
  if (writer.kind === "model" || writer.missing === null || (!isGiven && canAsk())) return;
  throw new StrataError(
    "environment-unfit",
    `no model can be asked for a summary: ${writer.missing}`,
    `fold without a model: strata compact ${id} --no-model --yes; nothing was changed`,
  );
}

function checkWish({ switches, values }: CommandInput): void {
  const about = ["focus", "summarizer"].find((name) => values.has(name));
  if (!switches.has("no-model") || about === undefined) return;
  throw new StrataError(
    "usage",
    `--${about} is about a summary, and --no-model asks for none`,
    "give one of them; see: strata compact --help",
  );
}
