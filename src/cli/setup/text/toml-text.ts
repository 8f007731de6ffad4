// TOML: text settings at its root. A line is spliced in, and the result is read again: it must say nothing else that is new.
import { isDeepStrictEqual } from "node:util";
import { parse } from "smol-toml";
import { assert } from "../../../core/assert.ts";
import { fieldsOf, isObject, type Fields } from "../../../core/message/fields.ts";
import { StrataError } from "../../../core/strata-error.ts";
import { lineEndOf, type TextFormat } from "./text-format.ts";

export const tomlText: TextFormat = {
  read: (text, path) =>
    path.reduce((value: unknown, name) => fieldsOf(value)[name], readToml(text)),
  set: (text, path, value) => {
    const [name = "", ...rest] = path;
    assert(rest.length === 0, "only settings at the root of a TOML file are set");
    const { [name]: there, ...others } = readToml(text);
    if (value === undefined && there === undefined) return text;
    const wanted = plain(value === undefined ? others : { ...others, [name]: value });
    const edits =
      there === undefined ? [withFirstLine(text, name, value)] : edited(text, name, value);
    const done = edits.find((each) => isDeepStrictEqual(tryPlain(each), wanted));
    if (done !== undefined) return done;
    throw new StrataError(
      "config-invalid",
      `${name} cannot be set without changing other settings`,
      "set it by hand; nothing was changed",
    );
  },
};

/** There no table has begun yet. */
function withFirstLine(text: string, name: string, value: unknown): string {
  const mark = text.startsWith("\uFEFF") ? 1 : 0;
  const line = `${name} = ${JSON.stringify(value)}${lineEndOf(text)}`;
  return `${text.slice(0, mark)}${line}${text.slice(mark)}`;
}

/** One edit for each line that looks like the setting: which of them is, the parser decides. */
function edited(text: string, name: string, value: unknown): readonly string[] {
  const lines = new RegExp(
    String.raw`^[ \t]*["']?${name}["']?[ \t]*=[ \t]*("(?:[^"\\\r\n]|\\.)*"|'[^'\r\n]*')[^\n]*(?:\n|$)`,
    "gm",
  );
  return [...text.matchAll(lines)].map((match) => {
    const [line, old = ""] = match;
    const end = match.index + line.length;
    if (value === undefined) return `${text.slice(0, match.index)}${text.slice(end)}`;
    const at = match.index + line.indexOf(old);
    return `${text.slice(0, at)}${JSON.stringify(value)}${text.slice(at + old.length)}`;
  });
}

function readToml(text: string): Fields {
  try {
    return fieldsOf(parse(text.replace(/^\uFEFF/, ""), { integersAsBigInt: "asNeeded" }));
  } catch (error) {
    throw new StrataError(
      "config-invalid",
      "it is not TOML",
      "correct it first; nothing was changed",
      { cause: error },
    );
  }
}

/** Undefined for what is no TOML. */
function tryPlain(text: string): unknown {
  try {
    return plain(readToml(text));
  } catch {
    return undefined;
  }
}

/** Dates of the parser have a class of its own. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Date) return value.toISOString();
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
}
