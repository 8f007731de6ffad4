// Fits the skill index into a length: shortens descriptions, then omits skills, and reports both.

export interface ListedSkill {
  readonly name: string;
  readonly description: string;
}

export interface FittedIndex {
  /** Sorted by name, to be rendered one line each. */
  readonly listed: readonly ListedSkill[];
  /** Listed skills whose description was cut. */
  readonly shortened: readonly string[];
  /** Skills that are not listed. */
  readonly leftOut: readonly string[];
  /** Goes below the lines. Null if nothing is missing. */
  readonly note: string | null;
}

/** Characters, not tokens, so that every model gets the same text. About 3000 tokens. */
export const indexLengthMax = 12_000;

/** Shorter descriptions say too little to choose by. */
const descriptionLengthMin = 80;

/** Omits workspace skills last, and otherwise the last ones in the alphabet first. Input order does not matter. */
export function fitIndex(
  skills: readonly (ListedSkill & { readonly source?: "global" | "workspace" })[],
  lengthMax: number = indexLengthMax,
): FittedIndex {
  const whole = skills
    .map((skill) => ({ ...skill, description: skill.description.trim().replace(/\s+/g, " ") }))
    .toSorted(byPreference);
  const cut = longestCut(whole, lengthMax);
  const kept: ListedSkill[] = [];
  const leftOut: string[] = [];
  const isShort = cut < Infinity;
  let room = lengthMax - (isShort ? noteLengthMax : 0);
  for (const { name, description } of whole) {
    const skill = { name, description: shorten(description, cut) };
    room -= lengthOfLine(skill);
    // After the first omission, all later ones are omitted too: the list must not depend on lengths.
    if (room >= 0 && leftOut.length === 0) kept.push(skill);
    else leftOut.push(name);
  }
  const shortened = whole.filter(
    ({ name, description }) => description.length > cut && !leftOut.includes(name),
  );
  return {
    listed: kept.toSorted(byName),
    shortened: shortened.map(({ name }) => name).toSorted(),
    leftOut: leftOut.toSorted(),
    note: toNote(shortened.length, leftOut.length),
  };
}

/** Infinity if everything fits uncut. */
function longestCut(skills: readonly ListedSkill[], lengthMax: number): number {
  const lengthAt = (cut: number): number =>
    skills.reduce(
      (sum, { name, description }) =>
        sum + lengthOfLine({ name, description: shorten(description, cut) }),
      0,
    );
  if (lengthAt(Infinity) <= lengthMax) return Infinity;
  const room = lengthMax - noteLengthMax;
  let low = descriptionLengthMin;
  let high = Math.max(low, ...skills.map(({ description }) => description.length));
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (lengthAt(middle) <= room) low = middle;
    else high = middle - 1;
  }
  return low;
}

function shorten(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  return `${text
    .slice(0, lengthMax - 1)
    .replace(/[\ud800-\udbff]$/, "")
    .trimEnd()}…`;
}

const markLength = " [preloaded]".length;

/** Includes room for the mark, so that later preactivation changes nothing. */
function lengthOfLine({ name, description }: ListedSkill): number {
  return `- ${name}: ${description}\n`.length + markLength;
}

const noteLengthMax = 200;

function toNote(shortenedCount: number, leftOutCount: number): string | null {
  const cut = shortenedCount === 0 ? [] : ["descriptions that end in … are shortened"];
  const left =
    leftOutCount === 0
      ? []
      : [
          leftOutCount === 1
            ? "1 more skill is not listed"
            : `${leftOutCount} more skills are not listed`,
        ];
  const changes = [...cut, ...left].join(", and ");
  return changes === ""
    ? null
    : `To keep this list short, ${changes}; skill_search finds them all.`;
}

interface Ranked {
  readonly name: string;
  readonly source?: string;
}

function byPreference(left: Ranked, right: Ranked): number {
  return rankOf(left) - rankOf(right) || byName(left, right);
}

function rankOf({ source }: Ranked): number {
  return source === "global" ? 1 : 0;
}

function byName(left: Ranked, right: Ranked): number {
  return left.name < right.name ? -1 : left.name > right.name ? 1 : 0;
}
