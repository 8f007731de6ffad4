// T0 to T2: tools and system text, made once at session start and replayed to the byte by whoever goes on.
import { emptyPrefixKey, type ContentHash } from "../hash.ts";
import type { GrowingBytes } from "../growing/growing-bytes.ts";
import { encodeToolDefinition, type ToolDefinition } from "../message/tool-definition.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import type { TokenCounter } from "../tokens/token-counter.ts";
import { sealBlocks, type SealedBlock, type SealedEnd } from "./sealed-block.ts";
import type { Spelling } from "./spelling.ts";
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
  const sealedTools = sealBlocks(
    spelling.tools(tools),
    { key: emptyPrefixKey, tokens: 0 },
    {
      region: "tools",
      tierOf: () => "T0",
      tokensOf: (_, index) => counter.text(texts[index] ?? "") + (index === 0 ? toolPrompt : 0),
    },
  );
  const sealedSystem = sealBlocks(spelling.system(system), sealedTools.end, {
    region: "system",
    tierOf: (index) => system[index]?.tier ?? "T1",
    tokensOf: (_, index) => counter.text(system[index]?.text ?? ""),
    labelOf: (index) => system[index]?.label ?? "",
  });
  return {
    tools,
    system,
    blocks: [...sealedTools.blocks, ...sealedSystem.blocks],
    toolBytes: sealedTools.bytes,
    systemBytes: sealedSystem.bytes,
    key: sealedSystem.end.key,
    end: sealedSystem.end,
    spelling,
    counter,
  };
}
