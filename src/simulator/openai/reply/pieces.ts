// Cuts text into small pieces for a stream, never inside a character.

const pieceCharacters = 24;

export function piecesOf(text: string): readonly string[] {
  return text.match(new RegExp(`.{1,${pieceCharacters}}`, "gsu")) ?? [];
}
