// The body of InvokeModel for Claude: that of the Messages API, with the version and the betas in it.
import type { MessagesRequest } from "../../anthropic-messages/schema.ts";

/**
 * What Bedrock's documents name since 2023. @anthropic-ai/bedrock-sdk 1.1 sends the version of the Messages API, 2026-10-21, which models
 * up to Opus 4.6 refuse there (platform.claude.com, Claude on Amazon Bedrock).
 */
export const version = "bedrock-2023-05-31";

export type InvokeRequest = Omit<MessagesRequest, "model" | "stream"> & {
  anthropic_version: string;
  anthropic_beta?: string[];
};
