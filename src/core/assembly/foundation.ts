// T0 to T2: tools and system text, made once at session start and replayed to the byte by whoever goes on.
import { emptyPrefixKey, type ContentHash } from "../hash.ts";
import type { GrowingBytes } from "../growing/growing-bytes.ts";
import { encodeToolDefinition, type ToolDefinition } from "../message/tool-definition.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import type { TokenCounter } from "../tokens/token-counter.ts";
import { sealBlocks, type SealedBlock, type SealedEnd } from "./sealed-block.ts";
import type { LeftOut, Spelling } from "./spelling.ts";
import type { SystemBlock } from "./system-blocks.ts";

export interface Foundation {
  readonly tools: readonly ToolDefinition[];
  readonly system: readonly SystemBlock[];
  readonly blocks: readonly SealedBlock[];
  readonly toolBytes: GrowingBytes;
  readonly systemBytes: GrowingBytes;
  /** Equal keys mean equal tools and system text. */
  readonly key: ContentHash;
  readonly end: SealedEnd;
  readonly tierTokens: Readonly<Record<"T0" | "T1" | "T2", number>>;
  /** What the protocol could not carry as it is. */
  readonly leftOut: readonly LeftOut[];
  readonly spelling: Spelling;
  readonly counter: TokenCounter;
}

export interface FoundationParts {
  /** Selected, and in the order they are to be sent. */
  readonly tools: readonly ToolDefinition[];
  readonly system: readonly SystemBlock[];
  readonly spelling: Spelling;
  readonly counter: TokenCounter;
  readonly model: Pick<ModelFacts, "toolPromptTokens">;
}

export function layFoundation({
  tools,
  system,
  spelling,
  counter,
  model,
}: FoundationParts): Foundation {
  // The provider puts a prompt of its own before the first tool.
  const toolPrompt = tools.length === 0 ? 0 : (model.toolPromptTokens?.auto ?? 0);
  const texts = tools.map(encodeToolDefinition);
  const spelledTools = spelling.tools(tools);
  const spelledSystem = spelling.system(system);
  const sealedTools = sealBlocks(
    spelledTools,
    { key: emptyPrefixKey, tokens: 0 },
    {
      region: "tools",
      tierOf: () => "T0",
      tokensOf: (_, index) => counter.text(texts[index] ?? "") + (index === 0 ? toolPrompt : 0),
    },
  );
  const sealedSystem = sealBlocks(spelledSystem, sealedTools.end, {
    region: "system",
    tierOf: (index) => system[index]?.tier ?? "T1",
    tokensOf: (_, index) => counter.text(system[index]?.text ?? ""),
    labelOf: (index) => system[index]?.label ?? "",
  });
  const blocks = [...sealedTools.blocks, ...sealedSystem.blocks];
  return {
    tools,
    system,
    blocks,
    toolBytes: sealedTools.bytes,
    systemBytes: sealedSystem.bytes,
    key: sealedSystem.end.key,
    end: sealedSystem.end,
    tierTokens: {
      T0: sumTier(blocks, "T0"),
      T1: sumTier(blocks, "T1"),
      T2: sumTier(blocks, "T2"),
    },
    leftOut: [...spelledTools, ...spelledSystem].flatMap(({ leftOut }) => leftOut ?? []),
    spelling,
    counter,
  };
}

function sumTier(blocks: readonly SealedBlock[], tier: SealedBlock["tier"]): number {
  return blocks.reduce((sum, block) => (block.tier === tier ? sum + block.tokens : sum), 0);
}
