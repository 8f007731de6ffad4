// Which skills a query means.

export interface SkillMatch<S extends SearchedSkill> {
  readonly skill: S;
  readonly score: number;
}

export interface SearchedSkill {
  readonly name: string;
  readonly description: string;
}

export interface SkillSearch<S extends SearchedSkill> {
  readonly matches: readonly SkillMatch<S>[];
  /** How many match; those beyond the limit are not among the matches. */
  readonly total: number;
  /** No skill had the whole query, and its words were looked for one by one. */
  readonly byWord: boolean;
  /** Of the query, beyond those that were looked for. */
  readonly wordsLeftOut: number;
}

/** Different ones; nobody looks for a skill with more. */
export const searchWordsMax = 64;

/** Two points for the name, one for the description; best first, then by name. A blank query lists all. */
export function searchSkills<S extends SearchedSkill>(
  skills: readonly S[],
  query: string,
  limit: number,
): SkillSearch<S> {
  const wanted = query.trim().toLowerCase();
  const whole = scoreAll(skills, [wanted]);
  const words = [...new Set(wanted.split(/\s+/))];
  const byWord = whole.length === 0 && /\s/.test(wanted);
  const found = byWord ? scoreAll(skills, words.slice(0, searchWordsMax)) : whole;
  const wordsLeftOut = byWord ? Math.max(0, words.length - searchWordsMax) : 0;
  return { matches: found.slice(0, limit), total: found.length, byWord, wordsLeftOut };
}

function scoreAll<S extends SearchedSkill>(
  skills: readonly S[],
  words: readonly string[],
): readonly SkillMatch<S>[] {
  const isBlank = words.join("") === "";
  return skills
    .map((skill) => ({ skill, score: isBlank ? 0 : scoreOf(skill, words) }))
    .filter(({ score }) => isBlank || score > 0)
    .toSorted((left, right) => right.score - left.score || byName(left.skill, right.skill));
}

function scoreOf({ name, description }: SearchedSkill, words: readonly string[]): number {
  const [inName, inDescription] = [name.toLowerCase(), description.toLowerCase()];
  return words.reduce(
    (sum, word) => sum + (inName.includes(word) ? 2 : 0) + (inDescription.includes(word) ? 1 : 0),
    0,
  );
}

function byName(left: SearchedSkill, right: SearchedSkill): number {
  return left.name < right.name ? -1 : left.name > right.name ? 1 : 0;
}
