// Removes credentials from a body. Only texts that hold one are spelled anew; every other byte stays, so that prefixes can be compared.
import { isSecretName } from "../../core/config/mask-secrets.ts";
import { credentialPatterns } from "../../core/events/credential-patterns.ts";

const taken = "[redacted]";
const patterns = credentialPatterns(taken);

export type RedactBody = (text: string) => string;

/** Long texts come again with every request of a conversation: those found clean are remembered, up to this many characters. */
const rememberedMax = 64_000_000;

export function createRedactBody(): RedactBody {
  const known = new Map<string, string>();
  let characters = 0;
  const clean = (text: string): string => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const redacted = redactText(text);
    if (characters > rememberedMax) {
      known.clear();
      characters = 0;
    }
    known.set(text, redacted);
    characters += text.length;
    return redacted;
  };
  return (body) => redactStrings(body, clean);
}

function redactText(text: string): string {
  return patterns.reduce((rest, [pattern, by]) => rest.replace(pattern, by), text);
}

/** A JSON string, and the colon behind it if it is a key. */
const literal = /"((?:[^"\\]|\\.)*)"(\s*:)?/g;

function redactStrings(body: string, clean: RedactBody): string {
  const parts: string[] = [];
  let key: string | null = null;
  let end = 0;
  for (const { 0: whole, 1: inner = "", 2: colon, index } of body.matchAll(literal)) {
    const between = body.slice(end, index);
    parts.push(isPlain(between) ? between : clean(between));
    end = index + whole.length;
    const isOfKey = key !== null && between.trim() === "";
    if (colon !== undefined) parts.push(whole);
    else if (isOfKey && inner !== "" && isSecretName(key ?? "")) parts.push(`"${taken}"`);
    else parts.push(redactLiteral(whole, inner, clean));
    key = colon === undefined ? null : inner;
  }
  const rest = body.slice(end);
  return [...parts, isPlain(rest) ? rest : clean(rest)].join("");
}

/** What can be between strings in JSON: numbers, brackets, three words. */
function isPlain(between: string): boolean {
  return between.length < shortest || !/[A-Za-z]{6}/.test(between);
}

/** No credential is shorter. */
const shortest = 12;

function redactLiteral(whole: string, inner: string, clean: RedactBody): string {
  const text = inner.includes("\\") ? unescape(inner) : inner;
  // Not JSON, so removing something cannot break it.
  if (text === null) return `"${clean(inner)}"`;
  const redacted = clean(text);
  return redacted === text ? whole : JSON.stringify(redacted);
}

function unescape(inner: string): string | null {
  try {
    const value: unknown = JSON.parse(`"${inner}"`);
    return typeof value === "string" ? value : null;
  } catch {
    return null;
  }
}
