// Whether two requests say the same: their members without markers, lists of one text as that text, tools in any order.

/** Members that ask for caching, and change nothing else. Source: docs of the vendors, checked 2026-11-16. */
const markers: ReadonlySet<string> = new Set([
  "cache_control",
  "prompt_cache_breakpoint",
  "prompt_cache_key",
  "prompt_cache_options",
  "prompt_cache_retention",
]);

/** How many of the first requests say something else than their counterpart. Requests without one differ. */
export function countDifferent(one: readonly unknown[], other: readonly unknown[]): number {
  const length = Math.max(one.length, other.length);
  return Array.from({ length }, (_, at) => at).filter(
    (at) => spellMeaning(one[at]) !== spellMeaning(other[at]),
  ).length;
}

export function spellMeaning(body: unknown): string {
  return JSON.stringify(plain(body)) ?? "nothing";
}

function plain(value: unknown, name = ""): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => plain(item));
    const [text] = items;
    if (items.length === 1 && isText(text) && textMembers.has(name)) return text.text;
    return name === "tools" ? items.toSorted(byName) : items;
  }
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([member]) => !markers.has(member));
  const spelled = members.map(([member, own]) => [member, plain(own, member)] as const);
  return Object.fromEntries(spelled.toSorted(([left], [right]) => (left < right ? -1 : 1)));
}

/** A text there means the same as a list of one. */
const textMembers: ReadonlySet<string> = new Set(["content", "system", "instructions"]);

function isText(value: unknown): value is { readonly text: string } {
  if (typeof value !== "object" || value === null || !("text" in value)) return false;
  const { length } = Object.keys(value);
  return typeof value.text === "string" && length === 2 && "type" in value;
}

function byName(left: unknown, right: unknown): number {
  return nameOf(left) < nameOf(right) ? -1 : 1;
}

function nameOf(tool: unknown): string {
  if (typeof tool !== "object" || tool === null) return "";
  if ("name" in tool) return String(tool.name);
  return "function" in tool ? nameOf(tool.function) : "";
}
