// Text with emphasis as spans, wrapped to a width and painted.
import { Lexer, type Token, type Tokens } from "marked";
import type { Paint } from "../paint.ts";
import { widthOf, wrapLine } from "../../words/text-width.ts";

export interface Span {
  readonly text: string;
  readonly styles: readonly Style[];
}

type Style = Extract<Parameters<Paint>[0], string>;

/** The emphasis, code and links of one line. */
export function readSpans(markdown: string): readonly Span[] {
  return Lexer.lexInline(markdown).flatMap((token) => toSpans(token, []));
}

type Styled =
  | Tokens.Strong
  | Tokens.Em
  | Tokens.Del
  | Tokens.Codespan
  | Tokens.Link
  | Tokens.Image
  | Tokens.Escape
  | Tokens.Text;

const styledTypes = ["strong", "em", "del", "codespan", "link", "image", "escape", "text"];

function isStyled(token: Token): token is Styled {
  return styledTypes.includes(token.type);
}

function toSpans(token: Token, styles: readonly Style[]): readonly Span[] {
  if (!isStyled(token)) return [{ text: token.raw, styles }];
  switch (token.type) {
    case "strong":
      return childrenOf(token, [...styles, "bold"]);
    case "em":
      return childrenOf(token, [...styles, "italic"]);
    case "del":
      return childrenOf(token, [...styles, "strikethrough"]);
    case "codespan":
      return [{ text: token.text, styles: [...styles, "cyan"] }];
    case "link": {
      const { href, text } = token;
      const named = childrenOf(token, [...styles, "underline"]);
      const isSame = href === text || href === `mailto:${text}`;
      return isSame ? named : [...named, { text: ` (${href})`, styles: [...styles, "dim"] }];
    }
    case "image": {
      const { href, text } = token;
      return [{ text: `${text === "" ? "image" : text} (${href})`, styles: [...styles, "dim"] }];
    }
    case "escape":
      return [{ text: token.text, styles }];
    case "text":
      return token.tokens !== undefined ? childrenOf(token, styles) : [{ text: token.raw, styles }];
  }
}

/** How much of a line that is still being written can be shown for good: up to the first sign that later text may give a meaning. */
export function settledLength(markdown: string): number {
  let length = 0;
  for (const token of Lexer.lexInline(markdown)) {
    const open = token.type === "text" ? token.raw.search(mayOpen) : -1;
    if (open !== -1) return length + open;
    length += token.raw.length;
  }
  return length;
}

const mayOpen = /[*_`[\]~!<\\]|https?:|www\.|\S+@/;

function childrenOf(token: Token, styles: readonly Style[]): readonly Span[] {
  const inner = "tokens" in token ? (token.tokens ?? []) : [];
  return inner.flatMap((each) => toSpans(each, styles));
}

/** Lines of at most this width; more text at the end changes only the last one. */
export function wrapSpans(spans: readonly Span[], width: number): readonly (readonly Span[])[] {
  const flat = spans.map((span) => ({ ...span, text: span.text.replaceAll("\t", "    ") }));
  const text = flat.map((span) => span.text).join("");
  let at = 0;
  return wrapLine(text, Math.max(1, width)).map((line) => {
    const start = Math.max(at, text.indexOf(line, at));
    at = start + line.length;
    return cutSpans(flat, start, at);
  });
}

function cutSpans(spans: readonly Span[], start: number, end: number): readonly Span[] {
  let at = 0;
  return spans.flatMap((span) => {
    const from = at;
    at += span.text.length;
    const text = span.text.slice(Math.max(0, start - from), Math.max(0, end - from));
    return text === "" ? [] : [{ ...span, text }];
  });
}

export function paintSpans(spans: readonly Span[], paint: Paint): string {
  return spans
    .map(({ text, styles }) => (styles.length === 0 ? text : paint([...styles], text)))
    .join("");
}

export function widthOfSpans(spans: readonly Span[]): number {
  return widthOf(spans.map(({ text }) => text).join(""));
}
