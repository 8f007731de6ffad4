// Secrets for tests. Every test that needs a key or a password uses one of these, and everything the suite prints,
// writes, sends or stores is searched for them (harness/watch/watch-outputs.ts, harness/watch/watch-run.ts). They repeat one
// word, so that parts of a secret are found too and no escaping hides it.

/** Eight letters and digits. A nested run uses another word, so that its leaks do not count for the outer run. */
const word = process.env["PLANTED_WORD"] ?? ["Q7z", "Pl4nt"].join("");

/** Assembled here so that secret scanners do not report them. */
export const plantedKey: string = ["sk", "ant", `api03-${word.repeat(5)}`, "AA"].join("-");
export const plantedOpenaiKey: string = ["sk", "proj", word.repeat(5)].join("-");
/** Has no recognisable form; only its name shows that it is a secret. */
export const plantedToken: string = word.repeat(4);
/** Every encoding spells it differently. */
export const plantedPassword: string = `${word}/"${word}@:%é`;
export const plantedUrl: string = `postgres://ana:${encodeURIComponent(plantedPassword)}@db:5432/x`;

export interface Finding {
  readonly form: string;
  /** The text around it, without the planted word. */
  readonly near: string;
}

/** The first trace of a planted secret in a text. */
export function findPlanted(text: string): Finding | null {
  for (const [form, needle] of needles) {
    const at = text.indexOf(needle);
    if (at !== -1) return { form, near: describeAround(text, at) };
  }
  return null;
}

/** Longer than any needle, so that a secret split over two pieces is found. */
export const overlapLength = 32;

const needles: readonly (readonly [form: string, needle: string])[] = [
  // Also matches in URLs, JSON, HTML and SQL, which never escape letters and digits.
  ["plain", word],
  ["in lower case", word.toLowerCase()],
  ["in upper case", word.toUpperCase()],
  // Three bytes become four letters, so the spelling depends on the position modulo three.
  ...[0, 1, 2].map((before) => ["as base64", toBase64Core(before)] as const),
  ["as hex", toHex(word)],
  ["as HEX", toHex(word).toUpperCase()],
];

/** The base64 letters that depend on the word alone, with `before` other bytes in front. */
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
