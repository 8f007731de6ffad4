// Fields of whatever an SDK gave or threw: nothing is known of it.

export function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !(name in value)) return undefined;
  const found: unknown = Reflect.get(value, name);
  return found ?? undefined;
}

/** Null for what has no JSON: circles, big integers, or its own mind about it. */
export function toJson(
  value: unknown,
  replacer?: (this: unknown, key: string, value: unknown) => unknown,
): string | null {
  try {
    return JSON.stringify(value, replacer) ?? null;
  } catch {
    return null;
  }
}

/** Of an error, as text, or parsed; some SDKs keep only what stands under `error`. */
export function bodyOf(error: unknown): string | null {
  const text = fieldOf(error, "responseBody");
  if (typeof text === "string") return text;
  const body = fieldOf(error, "error");
  if (typeof body !== "object" || body === null || body instanceof Error) return null;
  return toJson("error" in body ? body : { error: body });
}

/** Of the platform or of another `fetch`, or plain. */
export function headersOf(value: unknown): Readonly<Record<string, string>> {
  if (typeof value !== "object" || value === null) return {};
  const entries: readonly unknown[] = isIterable(value) ? [...value] : Object.entries(value);
  const known = entries.flatMap((entry) => {
    const [name, each]: readonly unknown[] = Array.isArray(entry) ? entry : [];
    return typeof name === "string" && typeof each === "string" ? [[name.toLowerCase(), each]] : [];
  });
  return Object.fromEntries(known);
}

function isIterable(value: object): value is Iterable<unknown> {
  return Symbol.iterator in value;
}

export function messageOf(error: unknown): string {
  const message = typeof error === "string" ? error : fieldOf(error, "message");
  return typeof message === "string" ? message : `what was thrown is ${typeof error}`;
}

/** Not every SDK names its errors; their classes tell. */
export function namesOf(error: unknown): string {
  return error instanceof Error ? `${error.name} ${error.constructor.name}` : "";
}
