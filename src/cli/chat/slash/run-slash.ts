// Runs the slash commands of a chat; their output is events.
import { stripVTControlCharacters } from "node:util";
import type { SessionRecord } from "../../../core/ledger/session-record.ts";
import { shortCostOf } from "../../compact/render-compacted.ts";
import { StrataError } from "../../../core/strata-error.ts";
import { formatCount } from "../../../replay/page/format-figures.ts";
import { formatTokens } from "../../../replay/page/in-page.ts";
import type { CommandBody, Io } from "../../command.ts";
import { simulationOf } from "../../../host/ledger/simulated-session.ts";
import type { ChatSession, ChatSetup } from "../session/chat-session.ts";
import { toText } from "../words/ending-words.ts";
import { viewContext } from "../state/context-view.ts";
import { describeChange } from "../words/model-words.ts";
import { findSessionId, shortName } from "../session/name-session.ts";
import { toShellWord } from "../words/greeting.ts";
import { renderCost } from "./render-cost.ts";
import { renderSessions } from "./render-sessions.ts";
import { renderHelp, type SlashSpec } from "./slash-words.ts";
import type { ChatState } from "../state/state.ts";
import { noticeOf } from "../state/update.ts";
import { waitForTurn, type Waiting } from "../session/wait-for-turn.ts";

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
  fork: async (name, { engine, chat, emit }) => {
    const from = chat.session.id;
    requireRecorded(chat, "fork");
    const fork = await engine.fork({ sessionId: from, ...(name === "" ? {} : { id: name }) });
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
