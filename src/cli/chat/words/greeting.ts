// The first and the last lines of a chat.
import { messagesFrom } from "../../../core/assembly/thread.ts";
import type { Message } from "../../../core/message/message.ts";
import { hitRate } from "../../../core/message/usage.ts";
import { formatUsdRounded } from "../../../core/models/pico-usd.ts";
import { formatPercent } from "../../../replay/format-figures.ts";
import type { Session } from "../../../core/session/session.ts";
import { toShort } from "../../ledger/render-ledger.ts";
import { formatCost } from "../../format-cost.ts";
import { toPlainLine } from "./plain-text.ts";
import type { ChatState } from "../state/state.ts";

export function renderGreeting(
  { about }: ChatState,
  session: Session,
  home: string | undefined,
  isTemporary = false,
): string {
  const simulated = about.isSimulated ? ", simulated" : "";
  const where = about.workspace === null ? "" : ` in ${fromHome(about.workspace, home)}`;
  return [
    `${about.model}${simulated}${where}.`,
    ...(isTemporary ? [demoFolder] : []),
    "/help lists commands; Ctrl-D quits.",
    ...recent(session),
  ].join("\n");
}

/** A person who does not know it looks for their own files there. */
export const demoFolder = "Working in a demo folder; --workspace . for yours.";

function fromHome(path: string, home: string | undefined): string {
  if (home === undefined || home === "/" || home === "") return path;
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

/** The last messages of a resumed session, as a reminder. */
function recent({ thread, id }: Session): readonly string[] {
  const from = Math.max(0, thread.messages.length - 20);
  const said = messagesFrom(thread, from).filter(
    ({ role }) => role === "user" || role === "assistant",
  );
  const texts = said.flatMap((message) => {
    const text = textOf(message);
    const mark = message.role === "user" ? "> " : "  ";
    return text === "" ? [] : [`${mark}${toShort(text, 300)}`];
  });
  return texts.length === 0 ? [] : [`Session ${id} continues:`, ...texts.slice(-4)];
}

/** The text of a message on one line. */
export function textOf({ content }: Message): string {
  return content
    .map((block) => (block.type === "text" ? toPlainLine(block.text) : ""))
    .filter((text) => text !== "")
    .join(" ");
}

/** What it cost, what caching saved, and how to resume. `typed`: options that must be typed again to find the session. */
export function renderFarewell({ about, totals }: ChatState, typed: readonly string[]): string {
  if (totals.callCount === 0) return "";
  const { costPicoUsd, unpricedCount, savedPicoUsd, told, prefillMs } = totals;
  const cached = hitRate(told);
  // A server of one's own costs time, not money.
  const isFree = prefillMs !== null && costPicoUsd === 0n && unpricedCount === 0;
  const parts = [
    isFree
      ? `${(prefillMs / 1000).toFixed(1)} s of reading${about.isSimulated ? ", simulated" : ""}`
      : `${formatCost(costPicoUsd, unpricedCount)}${about.isSimulated ? " in simulated dollars" : ""}`,
    ...(cached === null ? [] : [`${formatPercent(cached)} read from cache`]),
    ...(savedPicoUsd === null || savedPicoUsd <= 0n
      ? []
      : [`${formatUsdRounded(savedPicoUsd)} saved`]),
  ];
  const words = ["strata", "chat", "--resume", about.sessionId, ...typed].map(toShellWord);
  return `${parts.join(", ")}. Continue with: ${words.join(" ")}\n`;
}

/** Quoted so that a shell reads it as one word. */
export function toShellWord(word: string): string {
  const plain = toPlainLine(word);
  return /^[\w./:@%+=,-]+$/.test(plain) ? plain : `'${plain.replaceAll("'", "'\\''")}'`;
}
