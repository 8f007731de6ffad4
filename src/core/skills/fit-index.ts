// The skill index within a length: descriptions are shortened first, then skills are left out, and both are said.

export interface ListedSkill {
  readonly name: string;
  readonly description: string;
}

export interface FittedIndex {
  /** By name; to be rendered one line each. */
  readonly listed: readonly ListedSkill[];
  /** Names of listed skills whose description was cut. */
  readonly shortened: readonly string[];
  /** Names of skills that are not listed. */
  readonly leftOut: readonly string[];
  /** To stand below the lines; null where nothing is missing. */
  readonly note: string | null;
}

/** Characters, not tokens: the same text for every model. About 3000 tokens. */
export const indexLengthMax = 12_000;

/** Shorter ones say too little to choose by. */
const descriptionLengthMin = 80;

/** Skills of the workspace are left out last; otherwise those late in the alphabet first. The order given does not matter. */
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
    // Once one is left out all later ones are: which ones are listed does not depend on lengths.
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

/** Infinity where everything fits as it is. */
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

/** With room for the mark, so that it changes nothing when skills are preactivated later. */
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
  const said = [...cut, ...left].join(", and ");
  return said === "" ? null : `To keep this list short, ${said}; skill_search finds them all.`;
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
