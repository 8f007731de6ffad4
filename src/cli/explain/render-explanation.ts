// One explanation for people, and as JSON with exact dollars.
import { styleText } from "node:util";
import type { Explanation } from "../../core/diagnosis/explanation.ts";
import { formatUsdRounded } from "../../core/models/pico-usd.ts";
import { renderIndented } from "../table.ts";

export function explanationToJson(
  explanation: Explanation,
): Omit<Explanation, "lostPicoUsd"> & { readonly lostPicoUsd: string | null } {
  const { lostPicoUsd } = explanation;
  return { ...explanation, lostPicoUsd: lostPicoUsd === null ? null : lostPicoUsd.toString() };
}

export interface ExplanationFrame {
  /** Whether the provider reported what was read. */
  readonly isReported: boolean;
  /** An excerpt, with --excerpts. */
  readonly firstUnread?: { readonly path: string; readonly excerpt: string } | undefined;
}

export function renderExplanation(
  explanation: Explanation,
  { isReported, firstUnread }: ExplanationFrame,
): string {
  const { cause, detail, block, lostTokens, lostPicoUsd } = explanation;
  const origin = isReported ? "" : " by the provider's rules; --usage takes what it reported";
  const dollars = lostPicoUsd === null ? "" : `, ${formatUsdRounded(lostPicoUsd)}`;
  const rows = [
    ...(detail === null ? [] : [["what", detail]]),
    ...(block === null ? [] : [["where", `${block.path} (${block.section}, ${block.tier})`]]),
    ...(block?.byteOffset === null || block === null ? [] : [["byte", String(block.byteOffset)]]),
    ...(block === null || block.before === null ? [] : [["before", block.before]]),
    ...(block === null || block.after === null ? [] : [["after", block.after]]),
    ...(firstUnread === undefined
      ? []
      : [["not read", `from ${firstUnread.path} on: ${firstUnread.excerpt}`]]),
    ["expected", `${count(explanation.expectedReadTokens)} tokens`],
    ["read", `${count(explanation.reportedReadTokens)} tokens${origin}`],
    ["lost", `${count(lostTokens)} tokens${dollars}`],
    ["advice", explanation.advice],
  ];
  const colour = cause === "no miss" || cause === "first call" ? "green" : "yellow";
  return `${styleText(colour, cause)}\n${renderIndented(rows)}`;
}

function count(tokens: number): string {
  return tokens.toLocaleString("en-US");
}
