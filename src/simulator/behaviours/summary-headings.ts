// What a client requires of a summary: its headings, and text to keep word for word.

export interface SummaryContents {
  readonly asked: readonly string[];
  readonly tools: readonly string[];
  readonly files: readonly string[];
  readonly errors: readonly string[];
  readonly said: string | null;
  readonly keep: string | null;
}

/** The headings a request lists, without duplicates. A single heading may be the request's title and is ignored. */
export function headingsIn(request: string): readonly string[] {
  const marked = [...request.matchAll(/^ {0,3}#{1,4} +(\S.{0,60}?)[ :#]*$/gm)];
  const listed = [
    ...request.matchAll(/^ *(?:\d{1,2}[.)]|[-*]) +\*{0,2}([A-Z][\w &'/-]{2,40}?)\*{0,2}:/gm),
  ];
  const found = marked.length > 1 ? marked : listed;
  const headings = [...new Set(found.map((match) => match[1] ?? ""))];
  return headings.length > 1 ? headings : [];
}

/** List items that consist of one quoted string. */
export function quotedIn(request: string): readonly string[] {
  const items = [...request.matchAll(/^ *[-*] +`([^`\n]+)` *$/gm)];
  return [...new Set(items.map((match) => match[1] ?? ""))];
}

/** The largest number of tokens or words a request mentions; null if it sets no limit. */
export function limitIn(request: string): number | null {
  const limits = [...request.matchAll(/(\d{2,5}) (?:tokens|words)/g)].map((match) =>
    Number(match[1]),
  );
  return limits.length === 0 ? null : Math.max(...limits);
}

/** What the user asked, from a conversation given as text. */
export function asksIn(transcript: string): readonly string[] {
  const labelled = transcript.matchAll(/^(?:\[(?:user|human)\]\n|(?:user|human): *)(\S.*)$/gim);
  return [...labelled].map((match) => match[1] ?? "");
}

/**
 * One section per heading, in order, of about equal length: first the items of an earlier summary under that heading,
 * then the contents that fit the heading's words.
 */
export function underHeadings(
  headings: readonly string[],
  contents: SummaryContents,
  {
    earlier,
    charactersMax,
  }: { readonly earlier: readonly string[]; readonly charactersMax: number },
): readonly string[] {
  const room = Math.floor(charactersMax / headings.length);
  return headings.flatMap((heading) => {
    const title = `## ${heading}`;
    // Open items of an earlier summary are out of date.
    const carried = isOpen.test(heading)
      ? []
      : earlier.flatMap((text) => itemsUnder(heading, text));
    const items = [...new Set([...carried, ...itemsFor(heading, contents)])];
    const lines = items.map((item) => `- ${item.slice(0, Math.floor(room / 3))}`);
    const kept = fromBothEnds(lines, room - title.length - 1);
    return [title, ...(kept.length === 0 ? ["none"] : kept)];
  });
}

function itemsUnder(heading: string, text: string): readonly string[] {
  const sections = text.split(/^(?=## )/m).filter((each) => each.startsWith(`## ${heading}\n`));
  return sections.flatMap((section) => {
    const [, ...lines] = section.split("\n");
    const end = lines.findIndex((line) => !line.startsWith("- "));
    return lines.slice(0, end === -1 ? lines.length : end).map((line) => line.slice(2));
  });
}

/** Keeps the first and last items and drops the middle if there is no room. */
function fromBothEnds(items: readonly string[], charactersMax: number): readonly string[] {
  const byDistance = items
    .map((_, index) => index)
    .toSorted((left, right) => distance(left, items) - distance(right, items));
  let room = charactersMax;
  const kept = byDistance.filter((index) => {
    const size = (items[index]?.length ?? 0) + 1;
    if (size > room) return false;
    room -= size;
    return true;
  });
  return items.filter((_, index) => kept.includes(index));
}

function distance(index: number, { length }: readonly string[]): number {
  return Math.min(index, length - 1 - index);
}

const isOpen = /next|pending|open|todo|remaining/i;

const subjects: readonly (readonly [RegExp, (contents: SummaryContents) => readonly string[]])[] = [
  [/fail|error|problem|fix/i, ({ errors }) => errors],
  [/file|code|artifact|state/i, ({ files }) => files],
  [/constraint|preference|rule|keep/i, ({ keep }) => (keep === null ? [] : [keep])],
  [isOpen, ({ asked }) => asked.slice(-1)],
  [/task|goal|request|intent|user|objective/i, ({ asked }) => asked],
  [/tool|progress|done|action/i, ({ tools }) => tools],
  [/decision|current|context|summary|finding|work/i, ({ said }) => (said === null ? [] : [said])],
];

function itemsFor(heading: string, contents: SummaryContents): readonly string[] {
  return subjects.find(([words]) => words.test(heading))?.[1](contents) ?? [];
}
