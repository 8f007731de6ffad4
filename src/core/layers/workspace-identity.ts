// The few facts an IDENTITY.md gives as "Name: …" lines (N-43). The text itself goes to the model as it is written.

export interface AgentIdentity {
  readonly name: string | null;
  readonly creature: string | null;
  readonly vibe: string | null;
  readonly emoji: string | null;
  readonly avatar: string | null;
}

/** The first line of each kind that says something; list signs and bold are looked through. */
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

/** "_(pick something you like)_" is what a template says before anybody has chosen. */
function isPlaceholder(fact: string): boolean {
  return /^_?\(.*\)_?$/.test(fact);
}
