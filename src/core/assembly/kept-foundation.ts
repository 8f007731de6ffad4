// A foundation as text and back. Made once at session start; a resumed session sends the same bytes.
import type { ToolDefinition } from "../message/tool-definition.ts";
import { StrataError } from "../strata-error.ts";
import type { TokenCounter } from "../tokens/token-counter.ts";
import { sealFoundation, type Foundation } from "./foundation.ts";
import type { SpelledBlock, Spelling } from "./spelling.ts";
import type { SystemBlock } from "./system-blocks.ts";

const format = "strata-foundation/1";

interface KeptFoundation {
  readonly format: typeof format;
  readonly tools: readonly ToolDefinition[];
  readonly system: readonly SystemBlock[];
  readonly spelled: readonly SpelledBlock[];
  readonly counts: readonly number[];
}

/** Equal foundations give equal text, so sessions can share it. */
export function keepFoundation(foundation: Foundation): string {
  const { tools, system, spelled, blocks } = foundation;
  const counts = blocks.map(({ tokens }) => tokens);
  const kept: KeptFoundation = { format, tools, system, spelled, counts };
  return JSON.stringify(kept);
}

/** The tools and the system text as they are sent, one block per line of JSON, for people who look at them. */
export function readSpelled(text: string): readonly string[] {
  return parseKept(text).spelled.map(({ json }) => json.replace(/^,/, ""));
}

/** Nothing is spelled or counted again, so another version of this program sends the same bytes. */
export function restoreFoundation(
  text: string,
  { spelling, counter }: { readonly spelling: Spelling; readonly counter: TokenCounter },
): Foundation {
  const { tools, system, spelled, counts } = parseKept(text);
  return sealFoundation({ tools, system, spelled, counts, spelling, counter });
}

function parseKept(text: string): KeptFoundation {
  const kept: unknown = JSON.parse(text);
  if (isKept(kept)) return kept;
  throw new StrataError(
    "input-invalid",
    "this program does not know the format of the session's stored tools and system text",
    "continue with the version of strata that opened the session, or open a new session",
  );
}

function isKept(value: unknown): value is KeptFoundation {
  return (
    typeof value === "object" && value !== null && "format" in value && value.format === format
  );
}
