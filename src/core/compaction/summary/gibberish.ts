// Text that is no text: one thing over and over, no words, or noise.

/** Why a text cannot be a summary, as a sentence; null where it may be one. */
export function findGibberish(text: string): string | null {
  if (repeats(text)) return "It says the same over and over.";
  if (lettersIn(text) < lettersMin) return "It is not made of words.";
  if (unbrokenIn(text) > unbrokenMax || noiseIn(text) > noiseMax) return "It is not readable text.";
  return null;
}

/** Of all characters but spaces: a list of paths and hashes has more than half. */
const lettersMin = 0.4;
/** Of all characters, those in runs no word, path or URL is as long as. */
const unbrokenMax = 0.3;
const runCharacters = 200;
/** Of words in plain letters, those that nobody could say. */
const noiseMax = 0.5;

/** Of this many words in a row, lists of like things have more than an eighth of their word triples once. */
const triplesMin = 60;

function repeats(text: string): boolean {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const triples = words
    .slice(2)
    .map((word, index) => `${words[index]} ${words[index + 1]} ${word}`);
  return triples.length >= triplesMin && new Set(triples).size < triples.length / 8;
}

function lettersIn(text: string): number {
  const characters = text.replace(/\s/g, "").length;
  return characters === 0 ? 0 : (text.match(/\p{L}/gu) ?? []).join("").length / characters;
}

/** Languages that write without spaces are left alone. */
function unbrokenIn(text: string): number {
  const runs = text.match(/[!-~]+/g) ?? [];
  const long = runs.filter((run) => run.length > runCharacters).join("").length;
  return text === "" ? 0 : long / text.length;
}

function noiseIn(text: string): number {
  const words = text.match(/(?<![\p{L}\p{N}_./-])[A-Za-z]{4,}(?![\p{L}\p{N}_./-])/gu) ?? [];
  if (words.length < 20) return 0;
  const unsayable = words.filter((word) => /[^aeiouy]{5,}/i.test(word) || !/[aeiouy]/i.test(word));
  return unsayable.length / words.length;
}
