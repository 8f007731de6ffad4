// Runs the slash commands of a chat; their output is events.
import { stripVTControlCharacters } from "node:util";
import type { ScopedFiles } from "../../../edge/files/guard/scoped-files.ts";
import type { OwnCommands } from "../input/own-command.ts";
import type { SessionRecord } from "../../../core/ledger/session-record.ts";
import { shortCostOf } from "../../compact/render-compacted.ts";
import { StrataError } from "../../../core/strata-error.ts";
import { formatCount, formatPercent, formatTokens } from "../../../replay/format-figures.ts";
import type { CommandBody, Io } from "../../command.ts";
import { simulationOf } from "../../../host/ledger/simulated-session.ts";
import type { ChatSession, ChatSetup } from "../session/chat-session.ts";
import { toText } from "../words/ending-words.ts";
import { viewContext } from "../state/context-view.ts";
import { describeChange } from "../words/model-words.ts";
import { findSessionId, shortName } from "../../sessions/name-session.ts";
import { toShellWord, textOf } from "../words/greeting.ts";
import { renderHelp, type SlashSpec } from "./slash-words.ts";
import type { ChatState } from "../state/state.ts";
import { noticeOf } from "../state/update.ts";
import { waitForTurn, type Waiting } from "../session/wait-for-turn.ts";
import { generatedTokens, promptTokens, writtenTokens } from "../../../core/message/usage.ts";
import { formatUsdRounded } from "../../../core/models/pico-usd.ts";
import { formatCost, countUnpriced, formatShortCost } from "../../format-cost.ts";
import { renderFacts, renderTable } from "../../table.ts";
import type { Ledger } from "../../../core/ledger/ledger.ts";
import { formatTime } from "../../ledger/render-ledger.ts";
import { toPlainLine } from "../words/plain-text.ts";
import { cutToWidth } from "../words/text-width.ts";

/** The surroundings of a chat besides its session. */
export interface SlashPlace {
  /** Whether the workspace is a temporary folder for a simulated agent. */
  readonly isTemporary: boolean;
  readonly agent: string;
  /** From `--config`. */
  readonly configFile: string | null;
  /** Options that must be typed again to find its sessions. */
  readonly typed: readonly string[];
}

export interface SlashContext extends ChatSetup, SlashPlace {
  readonly chat: ChatSession;
  readonly state: () => ChatState;
  readonly env: Io["env"];
  readonly outside: Waiting["outside"];
  /** The files of the workspace, as tools may see them. */
  readonly files: () => Promise<ScopedFiles>;
  /** What a terminal has beside lines; null without one. */
  readonly screen: { readonly clear: (state: ChatState) => void } | null;
  /** Commands that the person runs; null without a terminal. */
  readonly own: OwnCommands | null;
}

/** Returns whether the chat continues. Errors become notices. */
export async function runSlash(
  spec: SlashSpec,
  rest: string,
  context: SlashContext,
): Promise<boolean> {
  const { chat, emit } = context;
  if (spec.name === "quit") return false;
  if (spec.needsIdle === true && chat.isBusy) {
    const text = `/${spec.name} has to wait until the turn ends; Ctrl-C stops the turn.`;
    emit(noticeOf("warning", text));
    return true;
  }
  try {
    await works[spec.name]?.(rest, context);
  } catch (error) {
    emit(noticeOf("error", toText(error)));
  }
  return true;
}

type Work = (rest: string, context: SlashContext) => Promise<void> | void;

const works: Readonly<Record<string, Work>> = {
  help: (_, context) => report(context, renderHelp()),
  cost: (_, context) => report(context, renderCost(context.state())),
  context: (_, { chat, emit, state }) => {
    const view = viewContext(chat.session.session, state().totals.contextTokens);
    emit({ type: "context", view });
  },
  model: changeModel,
  compact,
  memory: async (_, context) =>
    reportRun(context, (await import("../../memory/memory-show.ts")).run),
  skills: async (_, context) =>
    reportRun(context, (await import("../../skills/skills-list.ts")).run),
  sessions: showSessions,
  clear: (_, { screen, state, emit }) => {
    emit({ type: "cleared" });
    screen?.clear(state());
  },
  new: async (_, { engine, chat, emit }) => {
    const before = chat.session;
    const next = await engine.open({ model: before.session.modelName });
    const was = before.session.isRecorded ? shortName(before.id) : null;
    await chat.change(next);
    const back = was === null ? "" : ` ${was} is unchanged: /sessions ${was} goes back.`;
    emit(noticeOf("info", `This is a new conversation.${back}`));
  },
  fork: async (name, { engine, chat, emit }) => {
    const from = chat.session.id;
    requireRecorded(chat, "fork");
    const { modelName } = chat.session.session;
    const fork = await engine.fork({ sessionId: from, ...(name === "" ? {} : { id: name }) });
    // The ledger knows the model of the last turn; this chat may have chosen another one since.
    if (fork.session.modelName !== modelName) await fork.useModel(modelName);
    await chat.change(fork);
    const back = shortName(from);
    const text = `This is ${shortName(fork.id)} now. ${back} is unchanged: /sessions ${back} goes back.`;
    emit(noticeOf("info", text));
  },
};

function report({ emit }: Pick<SlashContext, "emit">, text: string): void {
  emit({ type: "reported", text: stripVTControlCharacters(text) });
}

/** Runs a CLI command on this chat's workspace. */
async function reportRun(context: SlashContext, run: CommandBody): Promise<void> {
  let text = "";
  const collect = (more: string): void => void (text += more);
  const { workspace, configFile, env } = context;
  const values = new Map([
    ...(workspace === null ? [] : [["workspace", workspace] as const]),
    ...(configFile === null ? [] : [["config", configFile] as const]),
  ]);
  await run({ operands: [], switches: new Set(), values }, { out: collect, error: collect, env });
  report(context, text);
}

async function changeModel(id: string, context: SlashContext): Promise<void> {
  const { chat, emit } = context;
  const { session } = chat.session;
  if (id === "") {
    const { model } = session;
    const text = `${model.id} of ${model.provider}, ${formatTokens(model.windowTokens)} tokens.`;
    return report(context, `${text} /model ID changes it; strata models lists them.`);
  }
  emit(noticeOf("info", describeChange(await chat.useModel(id))));
}

/** A session is in the ledger only after its first turn. */
function requireRecorded({ session }: ChatSession, what: string): void {
  if (session.session.isRecorded) return;
  const message = `there is nothing to ${what} yet`;
  throw new StrataError("input-invalid", message, "send a message first");
}

async function compact(focus: string, { chat, emit }: SlashContext): Promise<void> {
  requireRecorded(chat, "compact");
  emit(noticeOf("info", "Compacting…"));
  const run = await chat.session.compact(focus === "" ? {} : { focus });
  if (run.kind === "unchanged") {
    const why = reasons[run.why] ?? run.why;
    return emit(noticeOf("warning", `Nothing was compacted: ${why}.`));
  }
  const { tokensBefore, tokensAfter, turnsSummarized } = run.compaction.details;
  const text =
    `Compacted ${formatCount(turnsSummarized, "turn")}: ${formatTokens(tokensBefore)} → ` +
    `${formatTokens(tokensAfter)} tokens, for ${shortCostOf(run.compaction.details)}. ` +
    `The agent can still search what was compacted.`;
  await chat.recount();
  emit(noticeOf("info", text));
}

const reasons: Readonly<Record<string, string>> = {
  "no boundary": "the conversation is too short for that",
  "too soon": "it was compacted a moment ago",
  disabled: "compaction is switched off in the configuration",
  "breaker open": "the last attempts failed; Strata tries again later",
  ineffective: "the last compactions freed too little",
  "too often": "it was compacted too often lately",
};

async function showSessions(typed: string, context: SlashContext): Promise<void> {
  const { engine, ledger, chat } = context;
  if (typed === "") return report(context, await renderSessions(ledger, chat.session.id));
  const id = await findSessionId(ledger, typed);
  const record = await ledger.findSession(id);
  if (record !== null) requireHere(record, context);
  const { emit, outside } = context;
  const onWait = (text: string): void => emit(noticeOf("info", text));
  const turn = await waitForTurn(ledger, id, { onWait, outside });
  if (turn === "given up") return;
  if (chat.isBusy) {
    throw new StrataError("conflict", "a turn has started in the meantime", "stop it first");
  }
  await chat.change(await engine.resume(id));
  await chat.goOn(turn === "left open");
}

/** A session keeps its folder and agent, and so does this chat: both must match. */
function requireHere(
  record: SessionRecord,
  { workspace, isTemporary, typed, ...here }: SlashContext,
): void {
  const { id, agent, workspacePath } = record;
  const isMade = isTemporary && simulationOf(record)?.isTemporary === true;
  const isPlace = workspacePath === null || workspacePath === workspace || isMade;
  if (isPlace && agent === here.agent) return;
  const words = ["strata", "chat", "--resume", id, ...typed].map(toShellWord);
  throw new StrataError(
    "input-invalid",
    isPlace
      ? `session ${id} belongs to the agent ${agent}, and this chat to ${here.agent}`
      : `session ${id} works in ${workspacePath}, and this chat in ${workspace ?? "no folder"}`,
    `resume it with: ${words.join(" ")}`,
  );
}

export function renderCost({ totals, about }: ChatState): string {
  const { usage, callCount, costPicoUsd, unpricedCount, savedPicoUsd, savedTokens } = totals;
  if (callCount === 0) return "No calls yet.";
  const prompt = promptTokens(usage);
  const share = (tokens: number): string =>
    `${formatTokens(tokens)} tokens, ${formatPercent(prompt === 0 ? 0 : tokens / prompt)} of what was sent`;
  const simulated = about.isSimulated ? ", in simulated dollars: nothing is paid" : "";
  const without = savedPicoUsd === null ? null : costPicoUsd + savedPicoUsd;
  return renderFacts([
    [
      "cost",
      `${formatCost(costPicoUsd, unpricedCount)} for ${formatCount(callCount, "call")}${simulated}`,
    ],
    ["without a cache", without === null ? null : formatUsdRounded(without)],
    ["saved", savedPicoUsd === null ? null : savedText(savedPicoUsd, without ?? 0n)],
    ["saved tokens", savedTokens === null ? null : inputTokens(savedTokens)],
    ["read from cache", share(usage.cacheReadTokens)],
    ["written to cache", share(writtenTokens(usage))],
    ["not cached", share(usage.uncachedTokens)],
    ["made by the model", `${formatTokens(generatedTokens(usage))} tokens`],
  ]);
}

function inputTokens(saved: number): string {
  const sign = saved < 0 ? "-" : "";
  return `${sign}${formatTokens(Math.abs(saved))} at the price of input`;
}

function savedText(saved: bigint, without: bigint): string {
  if (saved < 0n) return `-${formatUsdRounded(-saved)}: the cache was written but not yet read`;
  const share = without === 0n ? 0 : Number((saved * 10_000n) / without) / 10_000;
  return `${formatUsdRounded(saved)}, ${formatPercent(share)}`;
}

const sessionsShown = 10;

/** The current session has a star. */
async function renderSessions(ledger: Ledger, currentId: string): Promise<string> {
  const sessions = await ledger.listSessions({ limit: sessionsShown });
  if (sessions.length === 0) return "There are no sessions yet.";
  const unpriced = await countUnpriced(ledger, sessions);
  const beginnings = new Map<string, string>();
  for (const { id } of sessions) beginnings.set(id, await beginningOf(ledger, id));
  return renderTable(
    [
      { title: "", cell: ({ id }) => (id === currentId ? "*" : " ") },
      { title: "session", cell: ({ id }) => cutToWidth(toPlainLine(shortName(id)), 20) },
      { title: "turns", align: "right", cell: ({ turnCount }) => String(turnCount) },
      {
        title: "cost",
        align: "right",
        cell: ({ id, costPicoUsd }) => formatShortCost(costPicoUsd, unpriced.get(id) ?? 0),
      },
      { title: "updated (UTC)", cell: ({ updatedMs }) => formatTime(updatedMs).slice(5) },
      { title: "began with", cell: ({ id }) => beginnings.get(id) ?? "" },
    ],
    sessions,
  );
}

async function beginningOf(ledger: Ledger, sessionId: string): Promise<string> {
  for await (const { id } of ledger.readTurns({ sessionId })) {
    const [first] = await ledger.readMessages(id);
    return first === undefined ? "" : cutToWidth(textOf(first.message), 26);
  }
  return "";
}
