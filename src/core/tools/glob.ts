// File name patterns, matched name by name in time proportional to pattern times name.

/** The places in a pattern that a path has reached. Empty if nothing below the path can match. */
export type GlobState = ReadonlySet<number>;

export interface Glob {
  readonly start: GlobState;
  /** The state after one more name of the path. */
  step(state: GlobState, name: string): GlobState;
  /** Whether the names so far are a match. */
  isMatch(state: GlobState): boolean;
}

export type GlobReading =
  | { readonly glob: Glob; readonly problem: null }
  | { readonly glob: null; readonly problem: string };

/**
 * Supports `*` and `?` within a name, `**` over any number of folders, `[a-z]`, `[!a]`, `{one,two}`, and `\`
 * before any of them.
 */
export function readGlob(pattern: string): GlobReading {
  if (pattern.length > 1000) return refuse("is longer than 1000 characters");
  const expanded = expandBraces(pattern);
  if (expanded === null) return refuse(`stands for more than ${alternativesMax} patterns`);
  const nodes: Node[] = [];
  const starts: number[] = [];
  for (const each of expanded) {
    const names = each.split("/").filter((name) => name !== "" && name !== ".");
    if (each.startsWith("/") || names.includes("..")) return refuse("leads outside the folder");
    starts.push(nodes.length);
    for (const name of names) nodes.push(name === "**" ? "any folders" : readName(name));
    nodes.push("end");
  }
  return { glob: toGlob(nodes, starts), problem: null };
}

export function matchesGlob(glob: Glob, path: string): boolean {
  return glob.isMatch(path.split("/").reduce((state, name) => glob.step(state, name), glob.start));
}

/** The pattern's parts between slashes, after expanding braces. */
export function namesInGlob(pattern: string): readonly string[] {
  return (expandBraces(pattern) ?? []).flatMap((each) => each.split("/"));
}

function refuse(problem: string): GlobReading {
  return { glob: null, problem };
}

type Node = "any folders" | "end" | readonly Token[];

type Token =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "any one" }
  | { readonly kind: "any" }
  | { readonly kind: "set"; readonly isNegated: boolean; readonly ranges: readonly Range[] };

type Range = readonly [from: string, to: string];

function toGlob(nodes: readonly Node[], starts: readonly number[]): Glob {
  /** `**` may also match no folder. */
  const reach = (places: Iterable<number>): GlobState => {
    const reached = new Set<number>();
    for (const place of places) {
      for (let at = place; !reached.has(at); at += 1) {
        reached.add(at);
        if (nodes[at] !== "any folders") break;
      }
    }
    return reached;
  };
  return {
    start: reach(starts),
    step: (state, name) => {
      const next: number[] = [];
      for (const place of state) {
        const node = nodes[place];
        if (node === "any folders") next.push(place);
        else if (node !== undefined && node !== "end" && matchesName(node, [...characters(name)])) {
          next.push(place + 1);
        }
      }
      return reach(next);
    },
    isMatch: (state) => [...state].some((place) => nodes[place] === "end"),
  };
}

/** Backtracks only to the last `*`: it can take whatever an earlier one could. */
function matchesName(tokens: readonly Token[], name: readonly string[]): boolean {
  let token = 0;
  let at = 0;
  let retry: { readonly token: number; at: number } | null = null;
  while (at < name.length) {
    const current = tokens[token];
    if (current?.kind === "any") {
      retry = { token, at };
      token += 1;
    } else if (current !== undefined && matchesOne(current, name[at] ?? "")) {
      token += 1;
      at += 1;
    } else if (retry !== null) {
      retry.at += 1;
      at = retry.at;
      token = retry.token + 1;
    } else {
      return false;
    }
  }
  while (tokens[token]?.kind === "any") token += 1;
  return token === tokens.length;
}

function matchesOne(token: Token, character: string): boolean {
  switch (token.kind) {
    case "text":
      return token.text === character;
    case "any one":
      return true;
    case "any":
      return false;
    case "set": {
      const isIn = token.ranges.some(([from, to]) => from <= character && character <= to);
      return isIn !== token.isNegated;
    }
  }
}

function readName(name: string): readonly Token[] {
  const letters = [...characters(name)];
  const tokens: Token[] = [];
  for (let at = 0; at < letters.length; at += 1) {
    const letter = letters[at] ?? "";
    if (letter === "*") {
      if (tokens.at(-1)?.kind !== "any") tokens.push({ kind: "any" });
    } else if (letter === "?") {
      tokens.push({ kind: "any one" });
    } else if (letter === "[" && letters.indexOf("]", at + 2) !== -1) {
      const end = letters.indexOf("]", at + 2);
      tokens.push(readSet(letters.slice(at + 1, end)));
      at = end;
    } else if (letter === "\\" && at + 1 < letters.length) {
      at += 1;
      tokens.push({ kind: "text", text: letters[at] ?? "" });
    } else {
      tokens.push({ kind: "text", text: letter });
    }
  }
  return tokens;
}

function readSet(letters: readonly string[]): Token {
  const isNegated = letters[0] === "!" || letters[0] === "^";
  const ranges: Range[] = [];
  for (let at = isNegated ? 1 : 0; at < letters.length; at += 1) {
    const from = letters[at] ?? "";
    const to = letters[at + 1] === "-" ? letters[at + 2] : undefined;
    ranges.push([from, to ?? from]);
    if (to !== undefined) at += 2;
  }
  return { kind: "set", isNegated, ranges };
}

const alternativesMax = 64;

/** Null if there are too many. An unmatched brace is a plain character. */
function expandBraces(pattern: string): readonly string[] | null {
  const done: string[] = [];
  const open = [pattern];
  while (open.length > 0) {
    const next = open.shift() ?? "";
    const braces = findBraces(next);
    if (braces === null) done.push(next);
    else {
      const before = next.slice(0, braces.start);
      const after = next.slice(braces.end + 1);
      for (const part of braces.parts) open.push(before + part + after);
    }
    if (done.length + open.length > alternativesMax) return null;
  }
  return done;
}

interface Braces {
  readonly start: number;
  readonly end: number;
  readonly parts: readonly string[];
}

/** The first innermost pair with a comma. */
function findBraces(pattern: string): Braces | null {
  let start = -1;
  let commas: number[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const letter = pattern[at];
    if (letter === "\\") at += 1;
    else if (letter === "{") {
      start = at;
      commas = [];
    } else if (letter === "," && start !== -1) commas.push(at);
    else if (letter === "}" && start !== -1) {
      if (commas.length > 0)
        return { start, end: at, parts: splitAt(pattern, [start, ...commas, at]) };
      start = -1;
    }
  }
  return null;
}

function splitAt(pattern: string, places: readonly number[]): readonly string[] {
  return places.slice(1).map((end, index) => pattern.slice((places[index] ?? 0) + 1, end));
}

function characters(text: string): Iterable<string> {
  return text[Symbol.iterator]();
}
