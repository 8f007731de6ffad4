// Markers as they stand in a body, found without asking the code that wrote them.

/** With every spelling a protocol has for one. */
const marker =
  /,"cache_control":\{"type":"ephemeral"(?:,"ttl":"1h")?\}|,\{"cachePoint":\{"type":"default"(?:,"ttl":"1h")?\}\}|,"prompt_cache_breakpoint":\{"mode":"explicit"(?:,"ttl":"(?:30m|12h)")?\}/g;

export function withoutMarkers(body: string): string {
  return body.replaceAll(marker, "");
}

/** Where the last marker stands in the body without markers; 0 for none. */
export function lastMarkerAt(body: string): number {
  const last = [...body.matchAll(marker)].at(-1);
  return last === undefined ? 0 : withoutMarkers(body.slice(0, last.index)).length;
}

export interface FoundMarker {
  /** What stands beside it in the same object. */
  readonly carrier: Readonly<Record<string, unknown>>;
  readonly lifetime: string;
}

/** Every marker of a body on a tool, in the system prompt or in a message, in the order they are read. */
export function markersIn(body: unknown): FoundMarker[] {
  const { tools, toolConfig, system, messages, input } = body as Readonly<Record<string, unknown>>;
  const { tools: own } = (toolConfig ?? {}) as { readonly tools?: unknown };
  return [tools, own, system, messages, input].flatMap(markersWithin);
}

function markersWithin(value: unknown): FoundMarker[] {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(markersInList);
  const carrier = value as Readonly<Record<string, unknown>>;
  const { cache_control: control, prompt_cache_breakpoint: breakpoint, ...rest } = carrier;
  const own = (control ?? breakpoint) as { readonly ttl?: string } | undefined;
  const inner = [rest["content"], rest["output"]].flatMap(markersWithin);
  if (own === undefined) return inner;
  const lifetime = own.ttl ?? (control === undefined ? "30m" : "5m");
  return [...inner, { carrier, lifetime }];
}

/** One of these is a block of its own, after its carrier. */
function markersInList(item: unknown, index: number, list: readonly unknown[]): FoundMarker[] {
  const { cachePoint: point } = (item ?? {}) as { readonly cachePoint?: { readonly ttl?: string } };
  if (point === undefined) return markersWithin(item);
  const carrier = (list[index - 1] ?? {}) as FoundMarker["carrier"];
  return [{ carrier, lifetime: point.ttl ?? "5m" }];
}
