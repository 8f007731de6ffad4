// Checks the shape of values from untyped callers first, so that validators never throw.
import { isObject } from "./fields.ts";
import { violation, type Violation } from "./violation.ts";

export type Shape =
  | "text"
  | "optional text"
  | "text or null"
  | "number"
  | "flag"
  | "object"
  | "optional object"
  | { readonly listOf: ObjectShape }
  | { readonly oneOf: readonly unknown[] };

export type Fields = Readonly<Record<string, Shape>>;

/** One set of fields, or one set per value of `type`. */
export type ObjectShape = Fields | { readonly byType: Readonly<Record<string, Fields>> };

/** Lists every place where a value has the wrong shape. An empty list means the types hold. */
export function checkShape(value: unknown, shape: ObjectShape, path: string): Violation[] {
  if (!isObject(value)) return [wrong(path, "an object")];
  if (!isByType(shape)) return checkFields(value, shape, path);
  const type = value["type"];
  const fields =
    typeof type === "string" && Object.hasOwn(shape.byType, type) ? shape.byType[type] : undefined;
  if (fields === undefined) {
    return [wrong(`${path}.type`, `one of ${Object.keys(shape.byType).join(", ")}`)];
  }
  return checkFields(value, fields, path);
}

function checkFields(
  value: Readonly<Record<string, unknown>>,
  fields: Fields,
  path: string,
): Violation[] {
  return Object.entries(fields).flatMap(([name, shape]) =>
    checkField(value[name], shape, `${path}.${name}`),
  );
}

function checkField(value: unknown, shape: Shape, path: string): Violation[] {
  if (typeof shape === "object" && "listOf" in shape) {
    if (!Array.isArray(value)) return [wrong(path, "a list")];
    return value.flatMap((item: unknown, index) =>
      checkShape(item, shape.listOf, `${path}.${index}`),
    );
  }
  if (typeof shape === "object") {
    return shape.oneOf.includes(value) ? [] : [wrong(path, `one of ${shape.oneOf.join(", ")}`)];
  }
  const isOptional = shape.startsWith("optional ") && value === undefined;
  const isNull = shape.endsWith(" or null") && value === null;
  const expected = shape.replace("optional ", "").replace(" or null", "");
  return isOptional || isNull || isA(value, expected) ? [] : [wrong(path, shape)];
}

function isA(value: unknown, expected: string): boolean {
  switch (expected) {
    case "text":
      return typeof value === "string";
    case "number":
      return typeof value === "number";
    case "flag":
      return typeof value === "boolean";
    default:
      return isObject(value);
  }
}

function isByType(
  shape: ObjectShape,
): shape is { readonly byType: Readonly<Record<string, Fields>> } {
  return "byType" in shape;
}

function wrong(path: string, expected: string): Violation {
  return violation(path, "shape", `must be ${expected}; pass data of the documented type`);
}
