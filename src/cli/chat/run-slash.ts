// The commands of a chat, each told as events.
import { stripVTControlCharacters } from "node:util";
import { generatedTokens, promptTokens, writtenTokens } from "../../core/message/usage.ts";
import { formatUsdRounded } from "../../core/models/pico-usd.ts";
import { StrataError } from "../../core/strata-error.ts";
import { formatCount, formatPercent } from "../../replay/page/format-figures.ts";
import { formatTokens } from "../../replay/page/in-page.ts";
import type { CommandBody, Io } from "../command.ts";
import { renderFacts } from "../table.ts";
import { switchModel, toText, type ChatSession, type ChatSetup } from "./chat-session.ts";
import { viewContext } from "./context-view.ts";
import { findSessionId, shortName } from "./name-session.ts";
import { renderSessions } from "./render-sessions.ts";
import { renderHelp, type SlashSpec } from "./slash-words.ts";
import type { ChatState } from "./state.ts";

export interface SlashContext extends ChatSetup {
  readonly chat: ChatSession;
  readonly state: () => ChatState;
  readonly env: Io["env"];
}

/** Whether the chat goes on. What goes wrong is told. */
export async function runSlash(
  spec: SlashSpec,
  rest: string,
  context: SlashContext,
): Promise<boolean> {
  const { chat, tell } = context;
  if (spec.name === "quit") return false;
  if (spec.needsIdle && chat.isBusy) {
    const text = `/${spec.name} waits until the turn is over; Ctrl-C stops it.`;
    tell({ type: "noticed", level: "warning", text });
    return true;
  }
  try {
    await works[spec.name]?.(rest, context);
  } catch (error) {
    tell({ type: "noticed", level: "error", text: toText(error) });
  }
  return true;
}

type Work = (rest: string, context: SlashContext) => Promise<void> | void;

const works: Readonly<Record<string, Work>> = {
  help: (_, context) => report(context, renderHelp()),
  cost: (_, context) => report(context, renderCost(context.state())),
  context: (_, { chat, tell, state }) => {
    const view = viewContext(chat.session.session, state().totals.contextTokens);
    tell({ type: "context", view });
  },
  model: changeModel,
  compact,
  memory: async (_, context) => {
    const { run } = await import("../memory-show.ts");
    await reportRun(context, run);
  },
  skills: async (_, context) => {
    const { run } = await import("../skills-list.ts");
    await reportRun(context, run);
  },
  sessions: showSessions,
  fork: async (name, { engine, chat, tell }) => {
    const from = chat.session.id;
    requireRecorded(chat, "fork");
    const fork = await engine.fork({ sessionId: from, ...(name === "" ? {} : { id: name }) });
    await chat.change(fork);
    const back = shortName(from);
    const text = `This is ${shortName(fork.id)} now. ${back} stays as it is: /sessions ${back} goes back.`;
    tell({ type: "noticed", level: "info", text });
  },
};

function report({ tell }: Pick<SlashContext, "tell">, text: string): void {
  tell({ type: "reported", text: stripVTControlCharacters(text) });
}

/** A command of the command line, on this chat's workspace. */
async function reportRun(context: SlashContext, run: CommandBody): Promise<void> {
  let text = "";
  const collect = (more: string): void => void (text += more);
  const { workspace, env } = context;
  const values = new Map(workspace === null ? [] : [["workspace", workspace] as const]);
  await run({ operands: [], switches: new Set(), values }, { out: collect, error: collect, env });
  report(context, text);
}

async function changeModel(id: string, context: SlashContext): Promise<void> {
  const { chat, tell } = context;
  const { session } = chat.session;
  if (id === "") {
    const { model } = session;
    report(
      context,
      `${model.id} of ${model.provider}, ${formatTokens(model.windowTokens)} tokens. /model ID changes it; strata models lists them.`,
    );
    return;
  }
  const next = await switchModel(context, chat.session, id);
  const before = session.model.id;
  await chat.change(next);
  const { model, thread } = next.session;
  const text =
    `${model.id} goes on in session ${next.id}. Nothing of it is cached yet: the next call sends ` +
    `${formatTokens(thread.end.tokens)} tokens anew. The session with ${before} stays as it is.`;
  tell({ type: "noticed", level: "info", text });
}

/** A session is in the ledger from its first turn on. */
function requireRecorded({ session }: ChatSession, what: string): void {
  if (session.session.isRecorded) return;
  const message = `there is nothing to ${what} yet`;
  throw new StrataError("input-invalid", message, "say something first");
}

async function compact(focus: string, { chat, tell }: SlashContext): Promise<void> {
  requireRecorded(chat, "compact");
  tell({ type: "noticed", level: "info", text: "Compacting…" });
  const run = await chat.session.compact(focus === "" ? {} : { focus });
  if (run.kind === "unchanged") {
    tell({
      type: "noticed",
      level: "warning",
      text: `Nothing was folded: ${reasons[run.why] ?? run.why}.`,
    });
    return;
  }
  const { tokensBefore, tokensAfter, turnsSummarized, costPicoUsd } = run.fold.details;
  const text =
    `Folded ${formatCount(turnsSummarized, "turn")}: ${formatTokens(tokensBefore)} → ` +
    `${formatTokens(tokensAfter)} tokens, for ${formatUsdRounded(costPicoUsd)}. ` +
    `What was folded can still be searched by the agent.`;
  await chat.recount();
  tell({ type: "noticed", level: "info", text });
}

const reasons: Readonly<Record<string, string>> = {
  "no boundary": "the conversation is too short for that",
  "too soon": "it was folded a moment ago",
  disabled: "compaction is switched off in the configuration",
  "breaker open": "the last attempts failed; it is tried again later",
  ineffective: "the last folds freed too little",
  "too often": "it was folded too often lately",
};

async function showSessions(typed: string, context: SlashContext): Promise<void> {
  const { engine, ledger, chat } = context;
  if (typed !== "") {
    await chat.change(await engine.resume(await findSessionId(ledger, typed)));
    return;
  }
  report(context, await renderSessions(ledger, chat.session.id));
}

function renderCost({ totals, about }: ChatState): string {
  const { usage, callCount, costPicoUsd, savedPicoUsd } = totals;
  if (callCount === 0) return "Nothing was paid for yet.";
  const prompt = promptTokens(usage);
  const share = (tokens: number): string =>
    `${formatTokens(tokens)} tokens, ${formatPercent(prompt === 0 ? 0 : tokens / prompt)} of what was sent`;
  const simulated = about.isSimulated ? ", in simulated dollars: nothing is paid" : "";
  const without = savedPicoUsd === null ? null : costPicoUsd + savedPicoUsd;
  return renderFacts([
    ["cost", `${formatUsdRounded(costPicoUsd)} for ${formatCount(callCount, "call")}${simulated}`],
    ["without a cache", without === null ? null : formatUsdRounded(without)],
    ["saved", savedPicoUsd === null ? null : savedText(savedPicoUsd, without ?? 0n)],
    ["read from cache", share(usage.cacheReadTokens)],
    ["written to cache", share(writtenTokens(usage))],
    ["not cached", share(usage.uncachedTokens)],
    ["made by the model", `${formatTokens(generatedTokens(usage))} tokens`],
  ]);
}

function savedText(saved: bigint, without: bigint): string {
  if (saved < 0n) return `-${formatUsdRounded(-saved)}: what was written is not read yet`;
  const share = without === 0n ? 0 : Number((saved * 10_000n) / without) / 10_000;
  return `${formatUsdRounded(saved)}, ${formatPercent(share)}`;
}
