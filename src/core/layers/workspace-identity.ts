// The facts an IDENTITY.md gives as "Name: …" lines. The model gets the text itself verbatim.

export interface AgentIdentity {
  readonly name: string | null;
  readonly creature: string | null;
  readonly vibe: string | null;
  readonly emoji: string | null;
  readonly avatar: string | null;
}

/** The first line of each kind with a value. Ignores list signs and bold. */
export function readIdentity(text: string): AgentIdentity {
  const found = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const { label, value } = /^(?<label>[^:]{1,40}):(?<value>.*)$/.exec(line)?.groups ?? {};
    const key = plain(label ?? "").toLowerCase();
    const fact = plain(value ?? "");
    if (fact !== "" && !isPlaceholder(fact) && !found.has(key)) found.set(key, fact);
  }
  return {
    name: found.get("name") ?? null,
    creature: found.get("creature") ?? null,
    vibe: found.get("vibe") ?? null,
    emoji: found.get("emoji") ?? null,
    avatar: found.get("avatar") ?? null,
  };
}

function plain(words: string): string {
  return words
    .trim()
    .replace(/^[-*+]\s+/, "")
    .replaceAll("**", "")
    .trim();
}

/** "_(pick something you like)_" is a template's text before the user chose. */
function isPlaceholder(fact: string): boolean {
  return /^_?\(.*\)_?$/.test(fact);
}
