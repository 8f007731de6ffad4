// One call's request, before any provider's spelling.
import type { JsonText, Message } from "./message.ts";
import type { ToolDefinition } from "./tool-definition.ts";

export interface CanonicalRequest {
  /** Unique, such as a ULID. Cancelling names the call by it. */
  readonly requestId: string;
  /** `provider:name`. */
  readonly model: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDefinition[];
  /** Stays the same for the whole session and comes before the volatile part. */
  readonly systemPrompt: string | null;
  /** May change on any call. The policy decides where it goes on the wire. */
  readonly systemPromptVolatile: string | null;
  readonly maxOutputTokens: number;
  readonly stopSequences: readonly string[];
  readonly temperature: number | null;
  readonly outputSchemaJson: JsonText | null;
  readonly stream: boolean;
  /** Our tool_use ids → the provider's, where a provider demands its own form. */
  readonly toolIdMap: Readonly<Record<string, string>> | null;
  readonly workspacePath: string | null;
}

type Required = "requestId" | "model" | "messages" | "maxOutputTokens";

/** A request with every optional part at its default. */
export function createRequest(
  parts: Pick<CanonicalRequest, Required> & Partial<CanonicalRequest>,
): CanonicalRequest {
  return {
    tools: [],
    systemPrompt: null,
    systemPromptVolatile: null,
    stopSequences: [],
    temperature: null,
    outputSchemaJson: null,
    stream: false,
    toolIdMap: null,
    workspacePath: null,
    ...parts,
  };
}

export interface SystemSegment {
  readonly name: "stable" | "volatile";
  readonly text: string;
}

/** The system segments that have text, in wire order. White space alone counts as no text. */
export function systemSegments(request: CanonicalRequest): SystemSegment[] {
  const segments: SystemSegment[] = [];
  const { systemPrompt, systemPromptVolatile } = request;
  if (hasText(systemPrompt)) segments.push({ name: "stable", text: systemPrompt });
  if (hasText(systemPromptVolatile))
    segments.push({ name: "volatile", text: systemPromptVolatile });
  return segments;
}

function hasText(text: string | null): text is string {
  return text !== null && text.trim() !== "";
}
