// Secrets for tests. Wherever a test needs a key or a password it takes one of these, and everything the suite prints,
// writes, sends or stores is searched for them (harness/watch-outputs.ts, harness/watch-run.ts). They are made of one
// word, over and over, so that a part of a secret is found as well as the whole, and so that no escaping hides it.

/** Another one for a run inside a run, whose leaks are no leaks of the outer one. Eight letters and digits. */
const word = process.env["PLANTED_WORD"] ?? ["Q7z", "Pl4nt"].join("");

/** Put together so that scanners of this repository do not take them for real. */
export const plantedKey: string = ["sk", "ant", `api03-${word.repeat(5)}`, "AA"].join("-");
export const plantedOpenaiKey: string = ["sk", "proj", word.repeat(5)].join("-");
/** Looks like nothing in particular: only its name says what it is. */
export const plantedToken: string = word.repeat(4);
/** Every way of writing it down spells it differently. */
export const plantedPassword: string = `${word}/"${word}@:%é`;
export const plantedUrl: string = `postgres://ana:${encodeURIComponent(plantedPassword)}@db:5432/x`;

export interface Finding {
  readonly form: string;
  /** What is around it, with the planted word taken out. */
  readonly near: string;
}

/** Of everything a text holds of a planted secret, the first. */
export function findPlanted(text: string): Finding | null {
  for (const [form, needle] of needles) {
    const at = text.indexOf(needle);
    if (at !== -1) return { form, near: describeAround(text, at) };
  }
  return null;
}

/** Longer than any needle, so that what is cut into pieces is found where they meet. */
export const overlapLength = 32;

const needles: readonly (readonly [form: string, needle: string])[] = [
  // Also in URLs, JSON, HTML and SQL: letters and digits are escaped nowhere.
  ["plain", word],
  ["in lower case", word.toLowerCase()],
  ["in upper case", word.toUpperCase()],
  // Three bytes become four letters, so it depends on the place of a word how it is spelled.
  ...[0, 1, 2].map((before) => ["as base64", toBase64Core(before)] as const),
  ["as hex", toHex(word)],
  ["as HEX", toHex(word).toUpperCase()],
];

/** The letters of base64 that come from the word alone, with so many bytes of something else before it. */
function toBase64Core(before: number): string {
  const text = Buffer.concat([Buffer.alloc(before), Buffer.from(word)]).toString("base64");
  return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + word.length) * 8) / 6));
}

function toHex(text: string): string {
  return Buffer.from(text).toString("hex");
}

const aroundLength = 60;

function describeAround(text: string, at: number): string {
  const around = text.slice(Math.max(0, at - aroundLength), at + aroundLength);
  const clean = needles.reduce((rest, [, needle]) => rest.replaceAll(needle, "‹planted›"), around);
  return JSON.stringify(clean);
}
