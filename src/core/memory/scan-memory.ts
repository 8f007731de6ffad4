// Finds hidden characters in a text, and words that address the model as its operator would.
import { findHidden, withoutHidden } from "./hidden-characters.ts";

export interface MemoryWarning {
  readonly kind: "invisible" | "injection";
  /** What was found, as part of a sentence. */
  readonly what: string;
}

/** Only finds; it never changes or refuses. A file may mention such words innocently. */
export function scanMemory(text: string): readonly MemoryWarning[] {
  return [...findInvisible(text), ...findInjections(text)];
}

export function describeWarnings(warnings: readonly MemoryWarning[]): string {
  return `Warning: this text has ${warnings.map(({ what }) => what).join("; ")}. Make sure that it is meant to be remembered.`;
}

function findInvisible(text: string): MemoryWarning[] {
  const found = findHidden(text);
  if (found.length === 0) return [];
  const names = [...new Set(found)];
  const shown = names.slice(0, 5).join(", ") + (names.length > 5 ? ", …" : "");
  const count =
    found.length === 1 ? "1 invisible character" : `${found.length} invisible characters`;
  return [{ kind: "invisible", what: `${count} (${shown})` }];
}

interface Marker {
  readonly what: string;
  /** No nested repetition: the text is untrusted. */
  readonly pattern: RegExp;
}

const markers: readonly Marker[] = [
  {
    what: "words that ask to ignore instructions",
    pattern:
      /\b(?:ignore|disregard|forget|override|bypass)\b.{0,30}\b(?:previous|prior|above|earlier|all|any|your|system|these|those)\b.{0,30}\b(?:instructions?|rules?|prompts?|guidelines?|directives?|restrictions?|safety)\b/iu,
  },
  {
    what: "words that give the model another role",
    pattern:
      /\byou are (?:now|no longer)\b|\bfrom now on,? you\b|\b(?:act|pretend|behave) as (?:if you|an? unrestricted)|\b(?:new|updated|real) (?:system )?(?:instructions?|prompt)\s*:/iu,
  },
  {
    what: "words that ask to hide something from the user",
    pattern:
      /\b(?:do not|don't|never|without) (?:tell(?:ing)?|inform(?:ing)?|notify(?:ing)?|mention(?:ing)?|alert(?:ing)?|ask(?:ing)?)\b.{0,20}\b(?:the )?(?:user|human|operator|owner)\b/iu,
  },
  {
    what: "words about the system prompt",
    pattern: /\b(?:reveal|print|repeat|show|leak|output|send)\b.{0,30}\bsystem prompt\b/iu,
  },
  {
    what: "marks of a chat template",
    pattern:
      /<\|[a-z_]{2,30}\|>|\[\/?INST\]|<<\/?SYS>>|<\/?(?:system|assistant|developer|tool_result|function_calls)\b[^<>\n]{0,100}>|^\s{0,8}(?:#{1,6}\s{1,4})?(?:system|assistant|developer)\s?:/imu,
  },
  {
    what: "a command that sends secrets away",
    pattern:
      /\b(?:curl|wget|nc|ncat|fetch|invoke-webrequest)\b.{0,200}(?:\$\{?[A-Z_]{0,40}(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL)|\$\(|\.env\b|\.ssh\/|\.aws\/|\.netrc\b)/iu,
  },
  {
    what: "a command that reads or places keys",
    pattern:
      /\b(?:cat|less|head|tail|base64|scp|cp)\b.{0,100}(?:\.env\b|\.ssh\/|id_rsa|id_ed25519|\.aws\/credentials|\.netrc\b|\.pgpass\b|\.npmrc\b)|\bauthorized_keys\b/iu,
  },
  {
    what: "a picture or link that carries data out",
    pattern: /!\[[^\]\n]{0,200}\]\(https?:\/\/[^)\s]{1,300}[?&][^)\s=]{1,40}=(?:\{|\$|<|%7B)/iu,
  },
];

/** Compares normalized letters, and ignores hidden characters inside words. */
function findInjections(text: string): MemoryWarning[] {
  const lines = withoutHidden(text).normalize("NFKC");
  const plain = lines.replace(/[ \t\r\n]+/g, " ");
  return markers
    .filter(({ pattern }) => pattern.test(plain) || pattern.test(lines))
    .map(({ what }) => ({ kind: "injection", what }));
}
