// The glossary stays short and true: few rows, each word once, and each in use.
const rowsMax = 60;

/** What is wrong with the glossary; `texts` are the code and documents in which its words must stand. */
export function checkGlossary(glossary: string, texts: readonly string[]): readonly string[] {
  const rows = glossary.split("\n").filter((line) => line.startsWith("| **"));
  const words = rows.flatMap((row) =>
    [...row.matchAll(/\*\*(.+?)\*\*/g)].map(([, word]) => word ?? ""),
  );
  const all = texts.join("\n");
  return [
    ...(rows.length === 0 ? ["docs/glossary.md: no row was found"] : []),
    ...(rows.length > rowsMax
      ? [
          `docs/glossary.md has ${rows.length} rows, at most ${rowsMax}: remove words that a newcomer can guess`,
        ]
      : []),
    ...rows
      .map((row) => /\*\*(.+?)\*\*/.exec(row)?.[1] ?? "")
      .filter((word, index, first) => first.indexOf(word) !== index)
      .map((word) => `docs/glossary.md explains "${word}" twice`),
    ...words
      .filter((word) => !spellings(word).test(all))
      .map((word) => `docs/glossary.md explains "${word}", which is used nowhere`),
  ];
}

/** "Cache plan" is also `CachePlan`, `cache-plan` and `cache_plan`. */
function spellings(word: string): RegExp {
  return new RegExp(word.split(/[ -]/).join("[\\s_-]?"), "i");
}
