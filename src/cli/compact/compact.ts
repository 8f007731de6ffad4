// strata compact: shows what a compaction would do, and does it.
import { StrataError } from "../../core/strata-error.ts";
import type { OpenStore } from "../../edge/stores/open-store.ts";
import { planCompaction } from "../../engine/compaction/compact-session.ts";
import { canRecall } from "../../core/session/compaction-rules.ts";
import type { CommandBody, CommandInput, Io } from "../command.ts";
import { canAsk, confirm } from "../confirm.ts";
import { needSession, createOnProblem, useLedger } from "../use-ledger.ts";
import { describePlan, type Planned } from "./planned-compaction.ts";
import { formatCount } from "../../replay/format-figures.ts";
import { createProgress, type Progress } from "../progress.ts";
import { readCatalogue } from "../../host/config/read-catalogue.ts";
import { askToCompact, renderPlan } from "./render-compaction.ts";
import {
  renderCompactionFacts,
  renderRecall,
  toCompactionJson,
  type Recall,
  type ShownCompaction,
} from "./render-compacted.ts";
import { toJsonLine } from "../ledger/render-ledger.ts";
import type { Session } from "../../core/session/session.ts";
import { toCatalogue } from "../../host/config/catalogue.ts";
import { toSpending } from "../../host/config/from-config.ts";
import { findConfigPlaces, readConfigOnce } from "../../host/config/read-config-once.ts";
import { refuseBusy, resumeRecorded } from "../../host/recorded/resume-recorded.ts";
import {
  openWriter,
  type OpenWriter,
  type Writer,
  type WriterProgress,
} from "../../host/recorded/summary-writer.ts";
import { formatUsdRounded } from "../../core/models/pico-usd.ts";
import type {
  CompactionRequest,
  CompactionOutcome,
} from "../../core/turn/compaction/compacting.ts";
import { knownCost, sumCalls, type SummaryCall } from "../../core/session/summary-bill.ts";
import {
  compactRecorded,
  type Hindrance,
  type RecordedDeps,
} from "../../host/recorded/compact-recorded.ts";

export const run: CommandBody = (input, io) => {
  const [id = ""] = input.operands;
  checkWish(input);
  return useLedger(input, io, async (store, place) => {
    const record = await needSession(store.ledger, id, place);
    await refuseBusy(store, record);
    const files = findConfigPlaces({ env: io.env, configFile: input.values.get("config") });
    const { config } = await readConfigOnce({ files, env: io.env });
    const models = input.values.get("models");
    const catalogue = models === undefined ? toCatalogue(config) : readCatalogue(models);
    const { session, callsPerTurn } = await resumeRecorded(store.ledger, record, catalogue);
    const wish = {
      isModelWanted: !input.switches.has("no-model"),
      summarizer: input.values.get("summarizer"),
      isDryRun: input.switches.has("dry-run"),
    };
    const open = await openWriter(wish, session, {
      config,
      catalogue,
      record,
      onNotice: createOnProblem(io),
      onProgress: createShow(createProgress(io, "")),
    });
    try {
      const caps = toSpending(config, session.agent);
      return await compact({ input, io, store, open, callsPerTurn, caps });
    } finally {
      await open.close();
    }
  });
};

function createShow(line: Progress): (progress: WriterProgress) => void {
  return (progress) => {
    switch (progress.kind) {
      case "reading":
        return line.tell(`${progress.model} reads the conversation`);
      case "writing": {
        const length = formatCount(progress.characters, "character");
        return line.tell(`${progress.model} writes the summary: ${length}`);
      }
      case "ended":
        return line.end();
    }
  };
}

interface Work {
  readonly input: CommandInput;
  readonly io: Io;
  readonly store: OpenStore;
  readonly open: OpenWriter;
  readonly callsPerTurn: number;
  readonly caps: ReturnType<typeof toSpending>;
}

async function compact(work: Work): Promise<number> {
  const { input, io, store, open } = work;
  const { writer, session } = open;
  const { switches, values } = input;
  const isJson = switches.has("json");
  const isGiven = switches.has("yes");
  const planned = await plan(work);
  if (planned.kind === "nothing" || switches.has("dry-run")) {
    io.out(isJson ? toJsonLine({ plan: planned, compaction: null }) : renderAll(planned, writer));
    return 0;
  }
  // With --json stdout gets one value only; the plan goes to stderr, for the user who is asked.
  (isJson ? io.error : io.out)(renderAll(planned, writer));
  refuseUnasked(writer, planned.sessionId, isGiven);
  if (!(await confirm(askToCompact(planned), isGiven))) {
    io.error("Nothing was changed.\n");
    return 0;
  }
  const focus = values.get("focus");
  const wish = {
    mayAskModel: writer.kind === "model",
    ...(focus === undefined ? {} : { focus }),
  };
  const deps = { ...open.deps, ...work.caps, ledger: store.ledger };
  const compaction = await compactWithProgress(session, wish, deps, io);
  io.out(
    isJson
      ? toJsonLine({ plan: planned, compaction: toCompactionJson(compaction) })
      : `\n${renderCompactionFacts(compaction)}\n${renderRecall(recallOf(session, compaction))}`,
  );
  return 0;
}

async function plan({ store, open, callsPerTurn }: Work): Promise<Planned> {
  const { writer, session } = open;
  const deps = { ...open.deps, ledger: store.ledger, now: Date.now };
  const mayAskModel = writer.kind !== "nobody";
  const found = await planCompaction(session, deps, { mayAskModel });
  return describePlan(found, { writer: mayAskModel ? writer.model.id : null, callsPerTurn });
}

function recallOf(session: Session, { turnId: compactionId }: ShownCompaction): Recall {
  const { id: sessionId, headTurnId } = session;
  return { sessionId, compactionId, headTurnId, canRecall: canRecall(session) };
}

/** The plan, and why a wanted summary is not possible. */
function renderAll(planned: Planned, writer: Writer): string {
  const missing = planned.kind === "compaction" ? describeMissing(writer) : "";
  return `${renderPlan(planned)}${missing}`;
}

function describeMissing(writer: Writer): string {
  switch (writer.kind) {
    case "model":
      return "";
    case "planned":
      return `\n${writer.model.id} cannot be called now: ${writer.missing}.\n`;
    case "nobody":
      return writer.missing === null
        ? ""
        : `\nNo model can write a summary: ${writer.missing}. With --no-model, this outline and index replace the compacted turns.\n`;
  }
}

/** Never replaces a wanted summary with an outline without asking. */
function refuseUnasked(writer: Writer, id: string, isGiven: boolean): void {
  if (writer.kind === "model" || writer.missing === null || (!isGiven && canAsk())) return;
  throw new StrataError(
    "environment-unfit",
    `no model can write a summary: ${writer.missing}`,
    `compact without a model: strata compact ${id} --no-model --yes; nothing was changed`,
  );
}

function checkWish({ switches, values }: CommandInput): void {
  const about = ["focus", "summarizer"].find((name) => values.has(name));
  if (!switches.has("no-model") || about === undefined) return;
  throw new StrataError(
    "usage",
    `--${about} needs a summary, and --no-model makes none`,
    "give one of them; see: strata compact --help",
  );
}

async function compactWithProgress(
  session: Session,
  wish: Pick<CompactionRequest, "focus" | "mayAskModel">,
  deps: Omit<RecordedDeps, "signal" | "onProblem">,
  io: Io,
): Promise<ShownCompaction> {
  const stop = new AbortController();
  const onInterrupt = (): void => stop.abort();
  process.once("SIGINT", onInterrupt);
  try {
    const around = { signal: stop.signal, onProblem: createOnProblem(io) };
    const { run: result, hindrance } = await compactRecorded(session, wish, { ...deps, ...around });
    if (result.kind === "unchanged") throw notCompacted(session.id, result, hindrance);
    const { id, details } = result.compaction;
    const { firstKeptIndex = 0, indexJson = null, metadataJson = null } = details;
    return { ...details, turnId: id, firstKeptIndex, indexJson, metadataJson };
  } finally {
    process.off("SIGINT", onInterrupt);
  }
}

function notCompacted(
  id: string,
  { why, spent }: Extract<CompactionOutcome, { readonly kind: "unchanged" }>,
  hindrance: Hindrance | null,
): StrataError {
  const cost = describeSpent(spent);
  const message = `session ${id} was not compacted: ${why}${cost}`;
  if (hindrance === "lock_held" || hindrance === "lock_lost") {
    return new StrataError(
      "conflict",
      message,
      `strata sessions show ${id} lists its compactions; try again when no other process works on it`,
    );
  }
  return new StrataError(
    "environment-unfit",
    message,
    `its history is as it was; try again, or compact it without a model: strata compact ${id} --no-model`,
  );
}

function describeSpent(spent: readonly SummaryCall[]): string {
  const cost = knownCost(sumCalls(spent));
  if (cost === null)
    return "; the cost of the attempt is not known, because the model has no price";
  return cost === 0n ? "" : `; the attempt cost ${formatUsdRounded(cost)}`;
}
