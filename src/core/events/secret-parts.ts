// Where a text repeats a secret, or a longer part of one, in any of the ways in which programs spell it.

/** From `start` up to `end`. */
export interface Part {
  readonly start: number;
  readonly end: number;
}

/** A shorter part gives little away and may be a word. */
const partLengthMin = 12;

/** Half of it: of every so many letters of a text, these lie within any part that is long enough. */
const pieceLength = 6;

/** As it is, and as in URLs, JSON, base64 and hex. */
export function spellingsOf(secret: string): readonly string[] {
  return [
    secret,
    encodeURIComponent(secret.toWellFormed()),
    JSON.stringify(secret).slice(1, -1),
    ...[0, 1, 2].flatMap((before) => toBase64(secret, before)),
    [...encoder.encode(secret)].map((byte) => byte.toString(16).padStart(2, "0")).join(""),
  ];
}

const encoder = new TextEncoder();

/**
 * In order and apart, in time linear in the text. Case does not count. `sparing` leaves a part alone of which only the
 * beginning is known that all keys of a vendor share, as `sk-ant-api03-`.
 */
export function createPartFinder(
  secrets: readonly string[],
  how: "every part" | "sparing" = "every part",
): (text: string) => readonly Part[] {
  const forms = [...new Set(secrets.map(toLower))];
  const [whole, inParts] = [forms.filter(isWholeOnly), forms.filter((form) => !isWholeOnly(form))];
  const places = indexPieces(inParts);
  const isTelling = how === "sparing" ? isBeyondBeginning : isLong;
  return (text) => {
    const lower = toLower(text);
    return join([
      ...whole.flatMap((form) => findWhole(lower, form)),
      ...findParts(lower, places).filter(isTelling),
    ]);
  };
}

function isLong({ start, end }: Part): boolean {
  return end - start >= partLengthMin;
}

function isBeyondBeginning({ start, end, form, index }: FoundPart): boolean {
  if (end - start === form.length) return true;
  const [sharedBeginning = ""] = /^[a-z]{2,5}[-_](?:[a-z]{2,5}\d{0,3}[-_]){0,2}/.exec(form) ?? [];
  return end - start - Math.max(0, sharedBeginning.length - index) >= partLengthMin;
}

/** What is short itself, and what begins with a word such as `Bearer`, which is no secret. */
function isWholeOnly(form: string): boolean {
  return form.length < partLengthMin || /\s/.test(form);
}

/** The letters that come from the secret alone, with so many bytes of something else before it. */
function toBase64(secret: string, before: number): readonly string[] {
  const bytes = [...new Uint8Array(before), ...encoder.encode(secret)];
  const [start, end] = [Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6)];
  const standard = btoa(String.fromCharCode(...bytes)).slice(start, end);
  return [standard, standard.replaceAll("+", "-").replaceAll("/", "_")];
}

interface Place {
  readonly form: string;
  readonly index: number;
}

function indexPieces(forms: readonly string[]): ReadonlyMap<string, readonly Place[]> {
  const places = new Map<string, Place[]>();
  for (const form of forms) {
    for (let index = 0; index + pieceLength <= form.length; index += 1) {
      const piece = form.slice(index, index + pieceLength);
      places.set(piece, [...(places.get(piece) ?? []), { form, index }]);
    }
  }
  return places;
}

/** A part and where it begins in the form. */
interface FoundPart extends Part, Place {}

function findParts(
  text: string,
  places: ReadonlyMap<string, readonly Place[]>,
): readonly FoundPart[] {
  const found: FoundPart[] = [];
  for (let at = 0; at + pieceLength <= text.length;) {
    let next = at + pieceLength;
    for (const place of places.get(text.slice(at, next)) ?? []) {
      const part = widen(text, at, place);
      if (!isLong(part)) continue;
      found.push(part);
      // What is found need not be looked at again; a part that follows holds one of the next pieces whole.
      next = Math.max(next, part.end - pieceLength + 1);
    }
    at = next;
  }
  return found;
}

/** As far as text and secret are the same to both sides. */
function widen(text: string, at: number, { form, index }: Place): FoundPart {
  let [before, after] = [0, pieceLength];
  while (before < Math.min(at, index) && text[at - before - 1] === form[index - before - 1]) {
    before += 1;
  }
  while (index + after < form.length && text[at + after] === form[index + after]) after += 1;
  return { start: at - before, end: at + after, form, index: index - before };
}

function findWhole(text: string, form: string): readonly Part[] {
  const found: Part[] = [];
  for (let at = text.indexOf(form); at !== -1; at = text.indexOf(form, at + form.length)) {
    found.push({ start: at, end: at + form.length });
  }
  return found;
}

function join(parts: readonly Part[]): readonly Part[] {
  const joined: Part[] = [];
  for (const part of parts.toSorted((left, right) => left.start - right.start)) {
    const last = joined.at(-1);
    if (last === undefined || part.start > last.end) joined.push(part);
    else joined[joined.length - 1] = { start: last.start, end: Math.max(last.end, part.end) };
  }
  return joined;
}

/** Letter by letter: other ways may change the length of a text. */
function toLower(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
