// The skill index of the system prompt: names and descriptions, never bodies.

export interface IndexedSkill {
  /** Unique. */
  readonly name: string;
  readonly description: string;
}

/** Follows the name of a skill whose body is already in the prompt. */
export const preloadedMark = " [preloaded]";

/** One line per skill, sorted by name, then the note. Input order does not matter. Null if there are no skills. */
export function toSkillIndex(
  skills: readonly IndexedSkill[],
  preactivated: readonly string[] = [],
  note: string | null = null,
): string | null {
  if (skills.length === 0) return null;
  const inPrompt = new Set(preactivated);
  const lines = skills
    .toSorted((left, right) => (left.name < right.name ? -1 : 1))
    .map(({ name, description }) => {
      const mark = inPrompt.has(name) ? preloadedMark : "";
      return `- ${name}${mark}: ${toOneLine(description)}`;
    });
  const below = note === null ? "" : `\n\n${note}`;
  return `${heading}\n\n${usage}\n\n${lines.join("\n")}${below}`;
}

const heading = "## Skills";

const usage =
  "Look for a skill with skill_search and read it with skill_load before you use it; " +
  "one marked [preloaded] is in this prompt under its own heading.";

function toOneLine(text: string): string {
  return text.trim().replaceAll(/\s+/g, " ");
}
