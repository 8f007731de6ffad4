// One line per exchange, for people and for programs.
import type { DoneExchange } from "../../gateway/open-gateway.ts";
import { toJsonLine, toPrintable } from "../ledger/render-ledger.ts";

export function renderExchange(done: DoneExchange): string {
  const { startMs, endMs, firstByteMs, method, path, upstream, status, how, responseBytes } = done;
  const words = [
    new Date(startMs).toISOString().slice(11, 19),
    upstream === "" ? "-" : upstream,
    `${method} ${path}`,
    status === null ? "no answer" : String(status),
    `${seconds(endMs - startMs)}${firstByteMs === null ? "" : `, first byte ${seconds(firstByteMs - startMs)}`}`,
    size(responseBytes),
    ...(how === "complete" || how === "no answer" ? [] : [how]),
  ];
  return toPrintable(`${words.join("  ")}\n`);
}

export function toExchangeLine(done: DoneExchange): string {
  return toJsonLine({ kind: "exchange", ...done });
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} KB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
