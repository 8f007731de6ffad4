// Records as files: JSON that is short and that people can compare. What fits stands on one line, and the names of a
// list's fields stand above it once.

const widthMax = 900;

/** From here on what fits stands on one line. */
const depthMin = 3;

export function formatRecord(value: unknown): string {
  return `${format(pack(value), "")}\n`;
}

export function parseRecord(text: string): unknown {
  return unpack(JSON.parse(text));
}

function format(value: unknown, indent: string): string {
  const short = JSON.stringify(value);
  if (typeof value !== "object" || value === null || short.length < 120) return short;
  if (indent.length >= depthMin && short.length <= widthMax) return short;
  const inner = `${indent} `;
  const isList = Array.isArray(value);
  const items = isList
    ? value.map((each) => inner + format(each, inner))
    : Object.entries(value).map(
        ([key, each]) => `${inner}${JSON.stringify(key)}: ${format(each, inner)}`,
      );
  const [open, close] = isList ? "[]" : "{}";
  return `${open}\n${items.join(",\n")}\n${indent}${close}`;
}

/** Stands for a field that a row does not have. */
const missing = "·";

function pack(value: unknown): unknown {
  if (isFields(value)) return mapFields(value, pack);
  if (!Array.isArray(value)) return value;
  const items = value.map(pack);
  if (items.length < 2 || !items.every(isFields)) return items;
  const fields = [...new Set(items.flatMap((item) => Object.keys(item)))];
  const rows = items.map((item) => fields.map((name) => (name in item ? item[name] : missing)));
  const packed = { fields, rows };
  return JSON.stringify(packed).length < JSON.stringify(items).length ? packed : items;
}

function unpack(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unpack);
  if (!isFields(value)) return value;
  const { fields, rows } = value;
  if (!Array.isArray(fields) || !Array.isArray(rows)) return mapFields(value, unpack);
  return rows.map((row: readonly unknown[]) => {
    const entries = fields.map((name, index) => [name, unpack(row[index])] as const);
    return Object.fromEntries(entries.filter(([, each]) => each !== missing));
  });
}

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function mapFields(fields: object, change: (value: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(fields).map(([name, each]) => [name, change(each)]));
}
