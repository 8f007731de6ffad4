// What a counter is asked, and what it answers.
import type { Block } from "../../core/message/message.ts";
import type { ModelFacts, Tokenizer } from "../../core/models/model-facts.ts";
import type { DriftLabels } from "../../core/tokens/drift.ts";
import type { EncodedRequest } from "../../core/wire/encoded-request.ts";
import type { ProviderFailure } from "../../core/wire/failure.ts";
import type { CounterLabel } from "./latch.ts";

export interface CountQuestion {
  /** As it will be sent. */
  readonly request: EncodedRequest;
  /** The model's; a vocabulary is chosen by it. */
  readonly tokenizer?: Tokenizer;
  /** The caller's own estimate: anchored on the last reply, corrected by earlier ones. */
  readonly estimatedTokens?: number;
  /** If given, the drift between estimate and count is recorded under these labels. */
  readonly labels?: DriftLabels;
  readonly signal?: AbortSignal;
}

export interface BlockQuestion {
  readonly blocks: string | readonly Block[];
  readonly model: ModelFacts;
  readonly signal?: AbortSignal;
}

export interface Count extends CounterLabel {
  readonly tokens: number;
  /** The source of this count. */
  readonly source: "provider" | "remembered" | "estimate";
  /** Why there is no provider count; null if there is one, or none was wanted. */
  readonly failure: ProviderFailure | null;
}
