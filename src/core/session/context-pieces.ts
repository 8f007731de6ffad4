// The named pieces of what a session sends, and who wrote each: the user, or Strata.
import { messageTokens } from "../assembly/thread.ts";
import { readNotesMessage } from "../compaction/summary/read-notes-message.ts";
import { countBytes } from "../layers/cut-middle.ts";
import { roleRulesName } from "../layers/to-sections.ts";
import type { Section } from "../layers/section.ts";
import type { ContextPiece } from "../message/assembled-context.ts";
import type { Session } from "./session.ts";

/** Tools, sections of the system text, and what Strata wrote into the conversation. In the order they are sent. */
export function contextPieces(session: Session): readonly ContextPiece[] {
  return [...toolPieces(session), ...systemPieces(session), ...notesPieces(session)];
}

/** Text for one call only. */
export function volatilePieces(
  sections: readonly Section[],
  countText: (text: string) => number,
): readonly ContextPiece[] {
  return sections
    .filter(({ text }) => text.trim() !== "")
    .map(({ name, text }) => ({ tier: "T5", name, tokens: countText(text), ...authorOf(name) }));
}

function toolPieces({ thread: { foundation }, strataTools }: Session): readonly ContextPiece[] {
  const blocks = foundation.blocks.filter(({ region }) => region === "tools");
  return foundation.tools.map(({ name }, index) => ({
    tier: "T0",
    name,
    tokens: blocks[index]?.tokens ?? 0,
    from: strataTools.includes(name) ? "strata" : "user",
  }));
}

/** Splits the tokens of a block among its sections by their bytes. */
function systemPieces({ thread: { foundation }, madeOf }: Session): readonly ContextPiece[] {
  const sections = madeOf.filter(({ note }) => note === undefined);
  const blocks = foundation.blocks.filter(({ region }) => region === "system");
  let from = 0;
  return foundation.system.flatMap(({ tier, text }, index) => {
    const bytes = countBytes(text);
    let [to, sum] = [from, 0];
    for (; to < sections.length; to += 1) {
      const next = sections[to]?.bytes ?? 0;
      if (to > from && sum + next > bytes) break;
      sum += next;
    }
    const inside = sections.slice(from, to);
    from = to;
    const tokens = blocks[index]?.tokens ?? 0;
    return inside.map((section) => ({
      tier,
      name: section.name,
      tokens: sum === 0 ? 0 : Math.round((tokens * section.bytes) / sum),
      ...authorOf(section.name),
    }));
  });
}

/** The notes of a compaction, after a summary that the provider may have written itself. */
function notesPieces({ thread, compactionState }: Session): readonly ContextPiece[] {
  if (compactionState.folds === 0) return [];
  const tokens = messageTokens(thread, 0);
  for (let at = 0; at < Math.min(thread.messages.length, headMax); at += 1) {
    const message = thread.messages.at(at);
    if (message === undefined || readNotesMessage(message) === null) continue;
    return [{ tier: "T3", name: "notes of a compaction", tokens: tokens[at] ?? 0, from: "strata" }];
  }
  return [];
}

/** A provider's own compaction may return the user's messages before the notes. */
const headMax = 100;

/** Sections that Strata writes. */
const ours: ReadonlySet<string> = new Set([
  "permissions",
  "environment",
  "skills",
  roleRulesName,
  "runtime",
  "date",
  "padding",
  "event",
]);

/** Sections of the user's that Strata puts under a heading. */
const headed: ReadonlySet<string> = new Set([
  "user identity",
  "user context everywhere",
  "peers",
  "language",
  "external memory",
  "user context",
  "workspace memory",
]);

function authorOf(name: string): Pick<ContextPiece, "from" | "added"> {
  if (ours.has(name)) return { from: "strata" };
  const isHeaded = headed.has(name) || name.startsWith("file ");
  return { from: "user", ...(isHeaded && { added: "its heading" }) };
}
