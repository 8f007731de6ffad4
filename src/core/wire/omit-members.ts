// Removes members from a JSON object. The remaining bytes and pieces stay the same.

export type Parts = readonly (string | Uint8Array)[];

/** Returns bytes that are not a JSON object unchanged: the receiver will report them. */
export function omitMembers(pieces: readonly Uint8Array[], names: ReadonlySet<string>): Parts {
  const members = findMembers(pieces);
  const kept = members.filter(({ name }) => !names.has(name));
  if (kept.length === members.length) return pieces;
  const runs = joinNeighbours(kept);
  const inside = runs.flatMap(({ start, end }, index) => [
    ...(index === 0 ? [] : [","]),
    ...slicePieces(pieces, start, end),
  ]);
  return ["{", ...inside, "}"];
}

/** A range of bytes, counted over all pieces. */
interface Run {
  readonly start: number;
  readonly end: number;
}

interface Member extends Run {
  readonly name: string;
}

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const space = 0x20;

/** Each member from its name to the comma or brace after its value; none if this is not an object. */
function findMembers(pieces: readonly Uint8Array[]): readonly Member[] {
  const members: Member[] = [];
  let depth = 0;
  let isInString = false;
  let isEscaped = false;
  let start = -1;
  let nameBytes: number[] | null = null;
  let name = "";
  let base = 0;
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; at += 1) {
      const byte = piece[at] ?? 0;
      nameBytes?.push(byte);
      if (isInString) {
        if (isEscaped) isEscaped = false;
        else if (byte === backslash) isEscaped = true;
        else if (byte === quote) {
          isInString = false;
          if (nameBytes !== null) name = parseName(nameBytes);
          nameBytes = null;
        }
      } else if (byte === quote) {
        isInString = true;
        if (depth === 1 && start === -1) {
          start = base + at;
          nameBytes = [byte];
        }
      } else if (byte === openBrace || byte === openBracket) {
        if (depth === 0 && (byte === openBracket || members.length > 0)) return [];
        depth += 1;
      } else if (byte === closeBrace || byte === closeBracket || byte === comma) {
        if (depth === 1 && start !== -1) {
          members.push({ name, start, end: base + at });
          start = -1;
        }
        if (byte !== comma) depth -= 1;
      } else if (depth === 0 && byte > space) {
        return [];
      }
    }
    base += piece.length;
  }
  return depth === 0 ? members : [];
}

const asText = new TextDecoder();

function parseName(bytes: readonly number[]): string {
  try {
    return String(JSON.parse(asText.decode(Uint8Array.from(bytes))));
  } catch {
    return "";
  }
}

/** Joins neighbouring members into one run, with the comma between them. */
function joinNeighbours(members: readonly Run[]): readonly Run[] {
  const runs: Run[] = [];
  for (const { start, end } of members) {
    const last = runs.at(-1);
    if (last === undefined || start > last.end + 1) runs.push({ start, end });
    else runs[runs.length - 1] = { start: last.start, end };
  }
  return runs;
}

function slicePieces(
  pieces: readonly Uint8Array[],
  start: number,
  end: number,
): readonly Uint8Array[] {
  const slices: Uint8Array[] = [];
  let base = 0;
  for (const piece of pieces) {
    const from = Math.max(start - base, 0);
    const to = Math.min(end - base, piece.length);
    if (from < to) slices.push(piece.subarray(from, to));
    base += piece.length;
  }
  return slices;
}
