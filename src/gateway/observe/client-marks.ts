// Which program sent a request, and what it calls its session: by headers that clients are known to send.
import { findVolatile } from "../../core/diagnosis/volatile-text.ts";
import type { RequestNames } from "../../core/wire/foreign/foreign-reader.ts";

type Headers = Readonly<Record<string, string>>;

/** What a request says about its conversation. These are hints: its content decides. */
export interface CallMarks {
  readonly client: string;
  /** Names one session of the client. */
  readonly session: string | null;
  /** Names an agent within the session; null for its main one. */
  readonly agent: string | null;
  readonly parentAgent: string | null;
  /** The session of the client that started this one. */
  readonly parentSession: string | null;
  /** The provider's id of the reply that this request goes on from. */
  readonly continues: string | null;
}

/** Seen in captures of these clients, 2026-11-15, and in a list of other gateways, 2026-08-22. The first one that is there counts. */
const sessionHeaders: readonly string[] = [
  "x-claude-code-session-id",
  "thread-id",
  "x-session-affinity",
  "x-session-id",
  "session-id",
  "session_id",
  "conversation_id",
];

const agentHeader = "x-claude-code-agent-id";
const parentAgentHeader = "x-claude-code-parent-agent-id";
/** opencode 1.18.33: its sub-agents have sessions of their own. Seen 2026-11-18. */
const parentSessionHeader = "x-parent-session-id";

/** Programs by their user agent. Agents come before the libraries that they are built with. */
const programs: readonly (readonly [RegExp, string])[] = [
  // `claude -p` is `sdk-cli`; programs with the SDK are `sdk-ts` and `sdk-py`. Seen of 2.1.325, 2026-11-18.
  [/claude-cli\/.*\bsdk-(?!cli\b)/i, "claude-agent-sdk"],
  [/claude-cli|claude-code/i, "claude-code"],
  [/codex/i, "codex"],
  [/opencode/i, "opencode"],
  [/gemini-?cli/i, "gemini-cli"],
  [/openclaw/i, "openclaw"],
  [/letta/i, "letta"],
  [/^pi(?:-coding-agent)?(?:\/| \()/i, "pi"],
  [/agents\/(?:js|python)|openai-agents/i, "openai-agents"],
  [/langchain/i, "langchain"],
  [/ai-sdk\//i, "ai-sdk"],
  [/anthropic/i, "anthropic-sdk"],
  [/openai/i, "openai-sdk"],
  [/google-genai/i, "google-sdk"],
  [/strata/i, "strata"],
];

/** From the headers alone. */
export function readMarks(headers: Headers): CallMarks {
  const named = sessionHeaders.find((name) => isName(headers[name]));
  return {
    client: clientOf(headers),
    session: named === undefined ? null : (headers[named] ?? null),
    agent: nameIn(headers, agentHeader),
    parentAgent: nameIn(headers, parentAgentHeader),
    parentSession: nameIn(headers, parentSessionHeader),
    continues: null,
  };
}

/** From headers and body. */
export function addNames(marks: CallMarks, names: RequestNames | null): CallMarks {
  if (names === null) return marks;
  const session = marks.session ?? names.session ?? sessionKey(names.cacheKey);
  return { ...marks, session, continues: names.continues };
}

/** A cache key that looks generated for one session. A name that people chose may be used by a whole program. */
function sessionKey(cacheKey: string | null): string | null {
  return cacheKey !== null && findVolatile(cacheKey).length > 0 ? cacheKey : null;
}

function clientOf(headers: Headers): string {
  const agent = `${headers["user-agent"] ?? ""} ${headers["originator"] ?? ""}`;
  const known = programs.find(([pattern]) => pattern.test(agent));
  if (known !== undefined) return known[1];
  return "x-claude-code-session-id" in headers ? "claude-code" : "unknown";
}

function nameIn(headers: Headers, name: string): string | null {
  const value = headers[name];
  return isName(value) ? value : null;
}

const nameLengthMax = 200;

function isName(value: string | undefined): value is string {
  return value !== undefined && value !== "" && value.length <= nameLengthMax;
}
