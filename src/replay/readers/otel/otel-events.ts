// Calls among the logs of an OpenTelemetry export: the events of Claude Code and gemini-cli, which have names of their own.
import { countIn, textIn, type Fields } from "../../../core/message/fields.ts";
import type { Usage } from "../../../core/message/usage.ts";
import { findProtocolCalled } from "../../../core/wire/foreign/recognise-protocol.ts";
import type { LogRecord } from "./otel-spans.ts";
import type { TracedCall } from "../traced-calls.ts";

interface Client {
  /** Names of the event; some versions put the name into the body. */
  readonly events: readonly string[];
  readonly program: string;
  readonly provider: string;
  readonly usage: (attributes: Fields) => Usage | null;
}

const clients: readonly Client[] = [
  {
    events: ["api_request", "claude_code.api_request"],
    program: "claude-code",
    provider: "anthropic",
    usage: (attributes) => {
      const input = numberIn(attributes, "input_tokens");
      if (input === null) return null;
      const written = numberIn(attributes, "cache_creation_tokens") ?? 0;
      return {
        uncachedTokens: input,
        cacheReadTokens: numberIn(attributes, "cache_read_tokens") ?? 0,
        cacheWriteTokens: written > 0 ? { "5m": written } : {},
        outputTokens: numberIn(attributes, "output_tokens") ?? 0,
        reasoningTokens: 0,
      };
    },
  },
  {
    events: ["gemini_cli.api_response"],
    program: "gemini-cli",
    provider: "gemini",
    usage: (attributes) => {
      const input = numberIn(attributes, "input_token_count");
      if (input === null) return null;
      const read = Math.min(numberIn(attributes, "cached_content_token_count") ?? 0, input);
      return {
        uncachedTokens: input - read + (numberIn(attributes, "tool_token_count") ?? 0),
        cacheReadTokens: read,
        cacheWriteTokens: {},
        outputTokens: numberIn(attributes, "output_token_count") ?? 0,
        reasoningTokens: numberIn(attributes, "thoughts_token_count") ?? 0,
      };
    },
  },
];

/** The call, why it cannot be used, or null for another event. The event is logged when the call ends. */
export function readEvent(
  { body, timeMs, attributes }: LogRecord,
  line: number,
  place: string,
): TracedCall | string | null {
  const name = textIn(attributes, "event.name") ?? body ?? "";
  const client = clients.find(({ events }) => events.includes(name));
  if (client === undefined) return null;
  const usage = client.usage(attributes);
  if (usage === null) return "the event has no usage";
  const tookMs = numberIn(attributes, "duration_ms") ?? 0;
  return {
    line,
    id: textIn(attributes, "request_id") ?? place,
    place,
    parent: null,
    conversation: textIn(attributes, "session.id") ?? "no session",
    agent: textIn(attributes, "query_source") ?? textIn(attributes, "role") ?? null,
    program: client.program,
    wire: findProtocolCalled(client.provider)?.name ?? null,
    model: textIn(attributes, "model") ?? null,
    startMs: timeMs === null ? null : timeMs - tookMs,
    endMs: timeMs,
    usage,
    prompt: null,
  };
}

/** Some exporters write every value as text. */
function numberIn(attributes: Fields, name: string): number | null {
  const value = attributes[name];
  const isText = typeof value === "string" && /^\d{1,15}$/.test(value);
  return isText ? Number(value) : (countIn(attributes, name) ?? null);
}
