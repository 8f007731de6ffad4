// Detects text that cannot be a summary: repetition, no words, or noise.

/** Why a text cannot be a summary, as a sentence. Null if it may be one. */
export function findGibberish(text: string): string | null {
  if (repeats(text)) return "It says the same over and over.";
  if (lettersIn(text) < lettersMin) return "It is not made of words.";
  if (unbrokenIn(text) > unbrokenMax || noiseIn(text) > noiseMax) return "It is not readable text.";
  return null;
}

/** The least share of letters among non-space characters. A list of paths and hashes has more than half. */
const lettersMin = 0.4;
/** The largest share of characters in runs that are longer than any word, path or URL. */
const unbrokenMax = 0.3;
const runCharacters = 200;
/** The largest share of unpronounceable words among words of plain letters. */
const noiseMax = 0.5;

/** From this many word triples on, even lists of similar items have more than an eighth distinct ones. */
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

/** Ignores languages that write without spaces. */
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
