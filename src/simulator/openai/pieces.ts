// How a stream cuts text: small pieces that never tear a character apart.

const pieceCharacters = 24;

export function piecesOf(text: string): readonly string[] {
  return text.match(new RegExp(`.{1,${pieceCharacters}}`, "gsu")) ?? [];
}
