// A line of code with colours: comments, texts, numbers and common keywords. It knows no grammar, so it colours less rather than wrongly.
import type { Paint } from "../paint.ts";

export function colourCode(line: string, language: string, paint: Paint): string {
  if (language === "diff") return colourDiff(line, paint);
  const mark = comments.find(({ of }) => of.has(language.toLowerCase()))?.mark ?? "//";
  const at = commentStart(line, mark);
  const code = at === -1 ? line : line.slice(0, at);
  const comment = at === -1 ? "" : paint("dim", line.slice(at));
  return `${colourPieces(code, paint)}${comment}`;
}

function colourPieces(code: string, paint: Paint): string {
  return [...code.matchAll(pieces)]
    .map(([piece, text, word, number]) => {
      if (text !== undefined) return paint("green", piece);
      if (number !== undefined) return paint("yellow", piece);
      return word !== undefined && keywords.has(piece) ? paint("magenta", piece) : piece;
    })
    .join("");
}

const pieces =
  /("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)|([A-Za-z_$][\w$]*)|(\b\d[\w.]*)|[^"'`\w$]+|./g;

/** Outside of texts. */
function commentStart(line: string, mark: string): number {
  for (const { 0: piece, index } of line.matchAll(pieces)) {
    if (/^["'`]./.test(piece)) continue;
    const inside = piece.indexOf(mark);
    if (inside !== -1) return index + inside;
  }
  return -1;
}

function colourDiff(line: string, paint: Paint): string {
  if (line.startsWith("+")) return paint("green", line);
  if (line.startsWith("-")) return paint("red", line);
  return line.startsWith("@@") ? paint("cyan", line) : line;
}

const comments: readonly { readonly mark: string; readonly of: ReadonlySet<string> }[] = [
  {
    mark: "#",
    of: new Set([
      "sh",
      "bash",
      "zsh",
      "shell",
      "py",
      "python",
      "rb",
      "ruby",
      "yaml",
      "yml",
      "toml",
      "r",
      "make",
      "dockerfile",
    ]),
  },
  { mark: "--", of: new Set(["sql", "lua", "haskell", "hs"]) },
  { mark: "<!--", of: new Set(["html", "xml", "md", "markdown"]) },
  { mark: "\n", of: new Set(["json", "text", "txt", "plain", ""]) },
];

const keywords: ReadonlySet<string> = new Set(
  (
    "abstract and as async await break case catch class const continue def default delete do elif else enum except export extends false " +
    "final finally fn for from func function if implements import in instanceof interface is lambda let match mut new nil none None not null " +
    "or package pass private protected public pub raise readonly return self static struct super switch this throw throws trait true True " +
    "False try type typeof undefined use var void where while with yield SELECT FROM WHERE INSERT UPDATE DELETE JOIN ORDER GROUP BY"
  ).split(" "),
);
