// Classifies a word by its shape alone. Most words are no identifiers.

export const identifierKinds = [
  "url",
  "path",
  "file",
  "name",
  "symbol",
  "dotted",
  "constant",
  "flag",
  "id",
  "version",
  "host",
  "code",
  "quantity",
  "command",
] as const;

/** `name` is words joined by hyphens or one slash: a package, a branch, a ticket, and sometimes plain prose. */
export type IdentifierKind = (typeof identifierKinds)[number];

/** The kind of a word without white space. Null if it is not an identifier. */
export function classifyWord(word: string): IdentifierKind | null {
  if (word.length < charactersMin || word.length > charactersMax) return null;
  const shape = shapeOf(word);
  if (shape.letters === 0) return classifyNumber(word, shape);
  if (word.includes("://")) return "url";
  if (shape.backslashes > 0) return "path";
  if (word.startsWith("--")) return shape.slashes === 0 ? "flag" : null;
  if (/^#[0-9A-Fa-f]{6}$/u.test(word)) return "id";
  if (word.startsWith("#") || (word.startsWith("@") && shape.slashes !== 1)) return null;
  if (word.includes(":")) return "host";
  if (shape.slashes > 0) return classifyPath(word, shape);
  if (shape.dots > 0) return classifyDotted(word, shape);
  return classifyName(word, shape);
}

const charactersMin = 3;
const charactersMax = 300;

interface Shape {
  readonly letters: number;
  readonly uppers: number;
  readonly lowers: number;
  readonly digits: number;
  readonly hexadecimal: number;
  readonly underscores: number;
  readonly dashes: number;
  readonly dots: number;
  readonly slashes: number;
  readonly backslashes: number;
  /** Places where a small letter or digit is followed by a capital. */
  readonly humps: number;
  /** Places where digits begin or end. */
  readonly turns: number;
}

function shapeOf(word: string): Shape {
  const counts = { uppers: 0, lowers: 0, digits: 0, hexadecimal: 0, humps: 0, turns: 0 };
  const marks = { _: 0, "-": 0, ".": 0, "/": 0, "\\": 0 };
  let before = "";
  for (const character of word) {
    const type = typeOf(character);
    if (type === "upper") counts.uppers += 1;
    if (type === "lower") counts.lowers += 1;
    if (type === "digit") counts.digits += 1;
    if (isHexadecimal(character)) counts.hexadecimal += 1;
    if (type === "upper" && (before === "lower" || before === "digit")) counts.humps += 1;
    if (before !== "" && (type === "digit") !== (before === "digit")) counts.turns += 1;
    if (isMark(character)) marks[character] += 1;
    before = type;
  }
  return {
    ...counts,
    letters: counts.uppers + counts.lowers,
    underscores: marks["_"],
    dashes: marks["-"],
    dots: marks["."],
    slashes: marks["/"],
    backslashes: marks["\\"],
  };
}

function typeOf(character: string): "upper" | "lower" | "digit" | "mark" {
  if (character >= "0" && character <= "9") return "digit";
  const lower = character.toLowerCase();
  if (lower === character.toUpperCase()) return "mark";
  return character === lower ? "lower" : "upper";
}

function isHexadecimal(character: string): boolean {
  return (
    (character >= "0" && character <= "9") ||
    (character >= "a" && character <= "f") ||
    (character >= "A" && character <= "F")
  );
}

function isMark(character: string): character is "_" | "-" | "." | "/" | "\\" {
  return "_-./\\".includes(character);
}

/** `#123`, `10.0.0.1:80`, `1.2.3`. Plain numbers, dates and times are not worth a place. */
function classifyNumber(
  word: string,
  { digits, dots, slashes, dashes }: Shape,
): IdentifierKind | null {
  if (slashes > 0 || dashes > 0 || digits === 0) return null;
  if (word.startsWith("#")) return digits === word.length - 1 ? "id" : null;
  if (dots === 3) return "host";
  return dots === 2 && digits >= 3 && digits <= 12 ? "version" : null;
}

function classifyPath(word: string, shape: Shape): IdentifierKind | null {
  if (shape.letters < 2 || word.includes("//")) return null;
  const isRelative = /^(?:\.{1,2}|~)\//u.test(word);
  if (isRelative || shape.slashes > 1 || extensionOf(word) !== "") return "path";
  return "name";
}

function classifyDotted(word: string, shape: Shape): IdentifierKind | null {
  if (/^v?\d+\.\d/iu.test(word)) return isQuantity(word) ? "quantity" : versionOf(word, shape);
  if (word.length < 4 || word.includes("..")) return null;
  const extension = extensionOf(word);
  if (knownExtensions.has(extension)) return "file";
  if (word !== ".env" && knownExtensions.has(word.slice(1))) return null;
  // A hidden file. With a capital it is a member without its owner.
  if (word.startsWith(".")) return /^\.[a-z]{3}/u.test(word) ? "file" : null;
  if (shape.dashes > 0) return extension === "" ? null : "file";
  const isSentence =
    shape.dots === 1 &&
    shape.humps + shape.underscores === 0 &&
    /\.[A-Z]/u.test(word) &&
    /^[A-Z]/u.test(word);
  return word.length < 5 || isSentence ? null : "dotted";
}

/** Numbers first, then at most one tag: `1.2.3-rc.1`. Coordinates of a drawing look similar. */
function versionOf(word: string, { digits }: Shape): IdentifierKind | null {
  const isVersion = /^v?\d+(?:\.\d+){2,3}(?:[.+-]?[A-Za-z][\w.+-]*)?$/iu.test(word);
  return isVersion && digits >= 3 && word.length <= 40 ? "version" : null;
}

function classifyName(word: string, shape: Shape): IdentifierKind | null {
  const { letters, uppers, lowers, digits, underscores, dashes, humps, turns } = shape;
  if (isQuantity(word)) return "quantity";
  if (shape.hexadecimal + dashes === word.length && digits > 0 && letters >= 1) {
    if (word.length >= 7 && (dashes === 0 || dashes === 4)) return "id";
  }
  if (word.length >= 20 && turns >= 4 && digits >= 3 && humps >= 3) return "id";
  if (errorNames.has(word)) return "code";
  if (/^[A-Z]{1,6}\d{3,6}$/u.test(word)) return "code";
  if (/^[A-Z][A-Z0-9]{1,9}-\d{1,6}$/u.test(word)) return "id";
  if (dashes > 0) return word.length >= 5 && letters >= 3 ? "name" : null;
  if (word.length < 4) return null;
  if (lowers === 0 && underscores > 0) return "constant";
  if (underscores > 0) return letters >= 3 ? "symbol" : null;
  return uppers > 0 && lowers > 0 && humps > 0 ? "symbol" : null;
}

function isQuantity(word: string): boolean {
  const found = /^\d{1,12}(?:\.\d{1,6})?([A-Za-z]{1,4})$/u.exec(word);
  return found !== null && units.has(found[1] ?? "");
}

function extensionOf(word: string): string {
  const name = word.slice(word.lastIndexOf("/") + 1);
  const found = /^.+\.([A-Za-z][A-Za-z0-9]{0,7})$/u.exec(name);
  return found?.[1] ?? "";
}

const units: ReadonlySet<string> = new Set(
  "ms us ns sec min hr k kb mb gb tb KB MB GB TB KiB MiB GiB kB K M G px rem em fps rps qps".split(
    " ",
  ),
);

const errorNames: ReadonlySet<string> = new Set(
  (
    "ENOENT EACCES EEXIST EPERM EPIPE EISDIR ENOTDIR ENOTEMPTY EMFILE ENOSPC EBUSY EINVAL ECONNREFUSED " +
    "ECONNRESET ETIMEDOUT EADDRINUSE ENOTFOUND EAI_AGAIN EHOSTUNREACH ERESOLVE ELIFECYCLE SIGKILL SIGTERM " +
    "SIGSEGV SIGINT SIGABRT OOMKilled"
  ).split(" "),
);

const knownExtensions: ReadonlySet<string> = new Set(
  (
    "astro bat c cc cfg cjs clj conf cpp cs css csv cts cxx dart db diff env ex exs gif go gradle graphql h hcl hpp " +
    "hs html ico ini ipynb java jpeg jpg js json json5 jsonl jsx kt less lock log lua m md mdx mjs mk ml mod mts " +
    "parquet patch pdf php pkl pl png properties proto ps1 py pyi r rb rs rst sass scala scss sh snap sol sql " +
    "sqlite sum svelte svg swift tar tex tf tmpl toml ts tsv tsx txt vue wasm webp xlsx xml yaml yml zip zsh"
  ).split(" "),
);
