// T0 to T2: tools and system text, made once at session start and sent again byte for byte.
import { emptyPrefixKey, type ContentHash } from "../hash.ts";
import type { GrowingBytes } from "../growing/growing-bytes.ts";
import { encodeToolDefinition, type ToolDefinition } from "../message/tool-definition.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import type { TokenCounter } from "../tokens/token-counter.ts";
import { sealBlocks, type SealedBlock, type SealedEnd } from "./sealed-block.ts";
import type { LeftOut, SpelledBlock, Spelling } from "./spelling.ts";
import type { SystemBlock } from "./system-blocks.ts";

export interface Foundation {
  readonly tools: readonly ToolDefinition[];
  readonly system: readonly SystemBlock[];
  readonly blocks: readonly SealedBlock[];
  /** The source of the blocks. Stored with the session, so that a resumed session sends the same bytes. */
  readonly spelled: readonly SpelledBlock[];
  readonly toolBytes: GrowingBytes;
  readonly systemBytes: GrowingBytes;
  /** Equal keys mean equal tools and system text. */
  readonly key: ContentHash;
  readonly end: SealedEnd;
  readonly tierTokens: Readonly<Record<"T0" | "T1" | "T2", number>>;
  /** What the protocol could not carry unchanged. */
  readonly leftOut: readonly LeftOut[];
  readonly spelling: Spelling;
  readonly counter: TokenCounter;
}

export interface FoundationParts {
  /** Selected, in sending order. */
  readonly tools: readonly ToolDefinition[];
  readonly system: readonly SystemBlock[];
  readonly spelling: Spelling;
  readonly counter: TokenCounter;
  readonly model: Pick<ModelFacts, "toolPromptTokens">;
}

export function buildFoundation(parts: FoundationParts): Foundation {
  const { tools, system, spelling, counter, model } = parts;
  // The provider adds its own prompt before the first tool.
  const toolPrompt = tools.length === 0 ? 0 : (model.toolPromptTokens?.auto ?? 0);
  const texts = [...tools.map(encodeToolDefinition), ...system.map(({ text }) => text)];
  const counts = texts.map((text, index) => counter.text(text) + (index === 0 ? toolPrompt : 0));
  const spelled = [...spelling.tools(tools), ...spelling.system(system)];
  return sealFoundation({ tools, system, spelled, counts, spelling, counter });
}

/** The spelled and counted parts of a foundation. */
export interface FoundationPieces extends Omit<FoundationParts, "model"> {
  /** One block per tool, then one per system block. */
  readonly spelled: readonly SpelledBlock[];
  readonly counts: readonly number[];
}

export function sealFoundation(pieces: FoundationPieces): Foundation {
  const { tools, system, spelled, counts, spelling, counter } = pieces;
  const systemFrom = spelled.length - system.length;
  const sealedTools = sealBlocks(
    spelled.slice(0, systemFrom),
    { key: emptyPrefixKey, tokens: 0 },
    { region: "tools", tierOf: () => "T0", tokensOf: (_, index) => counts[index] ?? 0 },
  );
  const sealedSystem = sealBlocks(spelled.slice(systemFrom), sealedTools.end, {
    region: "system",
    tierOf: (index) => system[index]?.tier ?? "T1",
    tokensOf: (_, index) => counts[systemFrom + index] ?? 0,
    labelOf: (index) => system[index]?.label ?? "",
    lifetimeOf: (index) => system[index]?.lifetime,
  });
  const blocks = [...sealedTools.blocks, ...sealedSystem.blocks];
  return {
    tools,
    system,
    blocks,
    spelled,
    toolBytes: sealedTools.bytes,
    systemBytes: sealedSystem.bytes,
    key: sealedSystem.end.key,
    end: sealedSystem.end,
    tierTokens: {
      T0: sumTier(blocks, "T0"),
      T1: sumTier(blocks, "T1"),
      T2: sumTier(blocks, "T2"),
    },
    leftOut: spelled.flatMap(({ leftOut }) => leftOut ?? []),
    spelling,
    counter,
  };
}

function sumTier(blocks: readonly SealedBlock[], tier: SealedBlock["tier"]): number {
  return blocks.reduce((sum, block) => (block.tier === tier ? sum + block.tokens : sum), 0);
}
