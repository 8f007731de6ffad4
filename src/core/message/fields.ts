// Reads the fields of JSON that others wrote: those that are used, and takes none of the others for an error.
export type Fields = Readonly<Record<string, unknown>>;

/** An object with named members: no list, not null. */
export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A whole number from 0. */
export function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** The fields of an object; none where the value is something else. */
export function fieldsOf(value: unknown): Fields {
  return isObject(value) ? value : {};
}

/** Undefined where the text is not one JSON object. */
export function parseFields(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The list; empty for anything else. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textIn(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  return typeof value === "string" ? value : undefined;
}

/** A whole number from 0; anything else is as good as absent. */
export function countIn(fields: Fields, name: string): number | undefined {
  const value = fields[name];
  return isCount(value) ? value : undefined;
}

export function fieldsIn(fields: Fields, name: string): Fields {
  return fieldsOf(fields[name]);
}

export function listIn(fields: Fields, name: string): readonly unknown[] {
  return listOf(fields[name]);
}

/** Whether every member is one of these; null counts as absent. */
export function hasOnly(fields: Fields, names: readonly string[]): boolean {
  return Object.entries(fields).every(([name, value]) => value === null || names.includes(name));
}

/** The same without the members that are null or undefined. */
export function onlyPresent<Members extends object>(
  members: Members,
): { [Name in keyof Members]?: NonNullable<Members[Name]> } {
  const kept: { [Name in keyof Members]?: NonNullable<Members[Name]> } = {};
  for (const name in members) {
    const value = members[name];
    if (value !== null && value !== undefined) kept[name] = value;
  }
  return kept;
}
