// The body of rawPredict for Claude: that of the Messages API, with the version in it.
import type { MessagesRequest } from "../anthropic-messages/schema.ts";

/** What Google's documents name since 2023. @anthropic-ai/vertex-sdk 1.1 sends the version of the Messages API instead. */
export const version = "vertex-2023-10-16";

export type RawPredictRequest = Omit<MessagesRequest, "model"> & { anthropic_version: string };
