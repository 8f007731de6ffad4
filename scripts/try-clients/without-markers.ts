// A body without its cache markers, to compare what a client sent with what arrived. It shares no code with the gateway.

const markerNames: ReadonlySet<string> = new Set([
  "cache_control",
  "prompt_cache_breakpoint",
  "prompt_cache_options",
]);

/** A text that had to become a list to carry a marker is a text again. Bodies that are no JSON are as they are. */
export function withoutMarkers(body: Buffer): string {
  const text = body.toString("utf8");
  try {
    return JSON.stringify(cleaned(JSON.parse(text)));
  } catch {
    return text;
  }
}

function cleaned(value: unknown): unknown {
  if (Array.isArray(value)) return onlyText(value.map(cleaned));
  if (typeof value !== "object" || value === null) return value;
  const rest = Object.entries(value).filter(([name]) => !markerNames.has(name));
  return Object.fromEntries(rest.map(([name, each]) => [name, cleaned(each)]));
}

/** A list of one text and the text itself mean the same. */
function onlyText(list: readonly unknown[]): unknown {
  const [only] = list;
  if (list.length !== 1 || typeof only !== "object" || only === null) return list;
  const { type, text, ...others } = only as Readonly<Record<string, unknown>>;
  const isPlain = (type === "text" || type === "input_text") && Object.keys(others).length === 0;
  return isPlain ? text : list;
}
