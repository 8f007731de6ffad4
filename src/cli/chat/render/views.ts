// Output without a screen: text line by line, or JSON with one value per line.
import { messageOf } from "../../../core/strata-error.ts";
import type { Io } from "../../command.ts";
import { toJsonLine } from "../../ledger/render-ledger.ts";
import type { RenderOptions } from "./paint.ts";
import { toPlain } from "../words/plain-text.ts";
import { renderItem } from "./render-item.ts";
import { renderStatus } from "./render-status.ts";
import { drawItems, nothingPrinted } from "./render.ts";
import { isOpen, type ChatState } from "../state/state.ts";
import type { ChatEvent } from "../state/update.ts";

export type View = (event: ChatEvent, state: ChatState) => void;

/** Prints every item when it is finished; the status line after each turn, if wanted. */
export function createTextView(
  { out }: Pick<Io, "out">,
  options: RenderOptions,
  showsStatus: boolean,
): View {
  let printed = nothingPrinted;
  return (event, state) => {
    const drawn = drawItems(state.items, printed, options);
    ({ printed } = drawn);
    for (const line of drawn.lines) out(`${line}\n`);
    const isTurnOver = event.type === "part" && event.part.type === "ended";
    if (showsStatus && isTurnOver) out(`\n${renderStatus(state, options)}\n`);
  };
}

/** For scripts: replies go to stdout as they come, everything else to stderr. A blank line separates turns. */
export function createAnswerView({ out, error }: Io, options: RenderOptions): View {
  let shown = 0;
  let separator = "";
  return (_, { items }) => {
    for (let item = items[shown]; item !== undefined && !isOpen(item); item = items[shown]) {
      shown += 1;
      if (item.kind === "answer") {
        out(`${separator}${toPlain(item.text.replace(/\r$/, ""))}\n`);
        separator = "";
      } else if (item.kind === "person") {
        separator = items.slice(0, shown).some(({ kind }) => kind === "answer") ? "\n" : "";
      } else for (const line of renderItem(item, null, options)) error(`${line}\n`);
    }
  };
}

export function createJsonView({ out }: Pick<Io, "out">): View {
  return (event, state) => {
    const value = toJsonValue(event, state);
    if (value !== null) out(toJsonLine(value));
  };
}

/** Null for events about the screen only. */
function toJsonValue(event: ChatEvent, { totals, about }: ChatState): object | null {
  switch (event.type) {
    case "opened":
      return { type: "session", ...event.about, totals: event.totals };
    case "said":
      return { type: "said", text: event.text };
    case "noticed":
      return { type: "notice", level: event.level, text: event.text };
    case "reported":
      return { type: "report", text: event.text };
    case "context":
      return { type: "context", ...event.view };
    case "part":
      return toJsonPart(event.part, { totals, about });
    case "asked":
    case "commanded":
    case "counted":
    case "moved":
    case "stopping":
    case "tick":
    case "ready":
    case "answered":
    case "key":
    case "entered":
    case "quitting":
    case "cleared":
    case "completed":
    case "remembered":
      return null;
  }
}

type Part = Extract<ChatEvent, { readonly type: "part" }>["part"];

function toJsonPart(part: Part, { totals, about }: Pick<ChatState, "totals" | "about">): object {
  if (part.type === "failed") {
    const { type, error } = part;
    return { type, error: messageOf(error) };
  }
  if (part.type !== "ended") return part;
  const { end, calls } = part.run;
  return {
    type: part.type,
    end,
    calls: calls.map((call) => {
      const { number, status, stopReason, usage, costPicoUsd, failure } = call;
      const durationMs = call.endMs - call.startMs;
      return { number, status, stopReason, usage, costPicoUsd, failure, durationMs };
    }),
    windowTokens: about.windowTokens,
    totals,
  };
}
