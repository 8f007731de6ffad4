// Reads fields of values of unknown shape that an SDK returned or threw.

export function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !(name in value)) return undefined;
  const found: unknown = Reflect.get(value, name);
  return found ?? undefined;
}

/** Null if the value has no JSON: cycles, big integers, or a `toJSON` that fails. */
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

/** The body of an error, as text or parsed. Some SDKs keep only the part under `error`. */
export function bodyOf(error: unknown): string | null {
  const text = fieldOf(error, "responseBody");
  if (typeof text === "string") return text;
  const body = fieldOf(error, "error");
  if (typeof body !== "object" || body === null || body instanceof Error) return null;
  return toJson("error" in body ? body : { error: body });
}

/** Reads headers of the platform, of another `fetch`, or of a plain object. */
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

/** Some SDKs do not name their errors; the class names help. */
export function namesOf(error: unknown): string {
  return error instanceof Error ? `${error.name} ${error.constructor.name}` : "";
}
