// One line per model call, and one for each other exchange that a person may want to see.
import { describeObserved } from "../../gateway/observe/describe-observed.ts";
import type { ObservedCall } from "../../gateway/observed-call.ts";
import type { DoneExchange } from "../../gateway/exchange-book.ts";
import { toJsonLine, toPrintable } from "../ledger/render-ledger.ts";

export function renderCall(call: ObservedCall): string {
  return toPrintable(`${describeObserved(call)}\n`);
}

/** Blocks are hashes for the ledger: here they are only counted. */
export function toCallLine({ addedBlocks, ...call }: ObservedCall): string {
  return toJsonLine({ kind: "call", ...call, addedBlocks: addedBlocks.length });
}

/** What the observer saw has a line of its own, unless no answer came. */
export function isWorthALine({ isWatched, how }: DoneExchange): boolean {
  return !isWatched || how === "no answer";
}

export function renderExchange(done: DoneExchange): string {
  const { startMs, endMs, method, path, upstream, status, how, responseBytes } = done;
  const words = [
    `${clock(startMs)} ${upstream === "" ? "-" : upstream}`,
    `${method} ${path}`,
    status === null ? "" : String(status),
    how === "complete" ? "" : how,
    size(responseBytes),
    `${((endMs - startMs) / 1000).toFixed(1)} s`,
  ];
  return toPrintable(`${words.filter((word) => word !== "").join("  ")}\n`);
}

export function toExchangeLine(done: DoneExchange): string {
  return toJsonLine({ kind: "exchange", ...done });
}

/** As on the wall, like the lines of calls. */
function clock(ms: number): string {
  const date = new Date(ms);
  return [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map((part) => String(part).padStart(2, "0"))
    .join(":");
}

function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} KB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
