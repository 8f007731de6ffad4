// What skills there are, as the system prompt tells it: names and descriptions, never bodies.

export interface IndexedSkill {
  /** Unique. */
  readonly name: string;
  readonly description: string;
}

/** Stands behind the name of a skill whose body is in the prompt already. */
export const preloadedMark = " [preloaded]";

/** One line per skill by name, the same text for any order, and what is to be said below; null where there are none. */
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
