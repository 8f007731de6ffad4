// The words of an identifier and of a text. Shared words show what a name is about.

/** In lower case, each once, at least three letters: `readFileLines` is read, file, lines. */
export function wordsOf(text: string): readonly string[] {
  return [...collectWords(text, new Set())];
}

export function collectWords(text: string, words: Set<string>): Set<string> {
  let start = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const code = at < text.length ? text.charCodeAt(at) : 0;
    const isBreak = !isLetter(code) || (isUpper(code) && !isUpper(text.charCodeAt(at - 1)));
    if (!isBreak) continue;
    if (at - start >= 3 && at - start <= wordCharactersMax) {
      words.add(text.slice(start, at).toLowerCase());
    }
    start = isLetter(code) ? at : at + 1;
  }
  return words;
}

const wordCharactersMax = 40;

function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || isUpper(code) || (code >= 0xc0 && code <= 0x52f);
}

function isUpper(code: number): boolean {
  return code >= 65 && code <= 90;
}
