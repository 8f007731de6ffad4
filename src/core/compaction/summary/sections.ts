// The sections of a summary. The instruction asks for these headings, and the gate checks them.

export interface SummarySection {
  readonly heading: string;
  /** What belongs there, for the model. */
  readonly holds: string;
}

export const summarySections: readonly SummarySection[] = [
  {
    heading: "Task",
    holds:
      "what the user wants in the end, and the latest explicit request in the user's own words",
  },
  { heading: "Decisions", holds: "what was decided or agreed, each with its reason" },
  { heading: "Open questions", holds: "what is undecided, promised or asked and not yet answered" },
  { heading: "Constraints", holds: "limits, preferences and corrections the user gave" },
  {
    heading: "State of files",
    holds: "each file or resource that was made, changed or found important, and how it is now",
  },
  { heading: "Failed attempts", holds: "what was tried and did not work, and why" },
  { heading: "Next step", holds: "what was about to be done" },
];

/** Headings that stand on no line of a text, in any heading style. */
export function missingSections(text: string): readonly string[] {
  const found = new Set(text.split("\n").map(toHeading));
  return summarySections
    .map(({ heading }) => heading)
    .filter((heading) => !found.has(heading.toLowerCase()));
}

/** `## Task`, `**Task**`, `1. Task:` and `Task: build it` are all the heading `task`. */
function toHeading(line: string): string {
  const bare = line.replace(/^[\s#>*_\d.)-]+/, "");
  return (/^[^:*_#]+/.exec(bare)?.[0] ?? "").trim().toLowerCase();
}
