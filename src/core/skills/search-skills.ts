// Finds the skills that match a query.

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
  /** All matches, including those beyond the limit. */
  readonly total: number;
  /** No skill matched the whole query, so its words were searched one by one. */
  readonly byWord: boolean;
  /** Words of the query that were not searched. */
  readonly wordsLeftOut: number;
}

/** The most distinct words of a query that are searched. */
export const searchWordsMax = 64;

/** Two points for the name, one for the description. Best first, then by name. A blank query lists all. */
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
