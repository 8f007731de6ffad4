// What a client asks of a summary: which headings it is to have, and what must stand in it word for word.

/** What a summary can tell. */
export interface Told {
  readonly asked: readonly string[];
  readonly tools: readonly string[];
  readonly files: readonly string[];
  readonly errors: readonly string[];
  readonly said: string | null;
  readonly keep: string | null;
}

/** Headings a request lists, each once; none where it lists a single one, which may be its own title. */
export function headingsIn(request: string): readonly string[] {
  const marked = [...request.matchAll(/^ {0,3}#{1,4} +(\S.{0,60}?)[ :#]*$/gm)];
  const listed = [
    ...request.matchAll(/^ *(?:\d{1,2}[.)]|[-*]) +\*{0,2}([A-Z][\w &'/-]{2,40}?)\*{0,2}:/gm),
  ];
  const found = marked.length > 1 ? marked : listed;
  const headings = [...new Set(found.map((match) => match[1] ?? ""))];
  return headings.length > 1 ? headings : [];
}

/** Items of a list that are nothing but a quoted string. */
export function quotedIn(request: string): readonly string[] {
  const items = [...request.matchAll(/^ *[-*] +`([^`\n]+)` *$/gm)];
  return [...new Set(items.map((match) => match[1] ?? ""))];
}

/** The largest number of tokens or words a request speaks of; null where it sets no limit. */
export function limitIn(request: string): number | null {
  const limits = [...request.matchAll(/(\d{2,5}) (?:tokens|words)/g)].map((match) =>
    Number(match[1]),
  );
  return limits.length === 0 ? null : Math.max(...limits);
}

/** What people are said to have asked in a conversation that is shown as text. */
export function asksIn(transcript: string): readonly string[] {
  const labelled = transcript.matchAll(/^(?:\[(?:user|human)\]\n|(?:user|human): *)(\S.*)$/gim);
  return [...labelled].map((match) => match[1] ?? "");
}

/**
 * A section for each heading, in its order, all about equally long: what an earlier summary says there,
 * then what the heading's words speak of.
 */
export function underHeadings(
  headings: readonly string[],
  told: Told,
  {
    earlier,
    charactersMax,
  }: { readonly earlier: readonly string[]; readonly charactersMax: number },
): readonly string[] {
  const room = Math.floor(charactersMax / headings.length);
  return headings.flatMap((heading) => {
    const title = `## ${heading}`;
    // What was next then is not next now.
    const carried = isOpen.test(heading)
      ? []
      : earlier.flatMap((text) => itemsUnder(heading, text));
    const items = [...new Set([...carried, ...itemsFor(heading, told)])];
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

/** What came first and what came last; the middle goes where there is no room. */
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

const subjects: readonly (readonly [RegExp, (told: Told) => readonly string[]])[] = [
  [/fail|error|problem|fix/i, ({ errors }) => errors],
  [/file|code|artifact|state/i, ({ files }) => files],
  [/constraint|preference|rule|keep/i, ({ keep }) => (keep === null ? [] : [keep])],
  [isOpen, ({ asked }) => asked.slice(-1)],
  [/task|goal|request|intent|user|objective/i, ({ asked }) => asked],
  [/tool|progress|done|action/i, ({ tools }) => tools],
  [/decision|current|context|summary|finding|work/i, ({ said }) => (said === null ? [] : [said])],
];

function itemsFor(heading: string, told: Told): readonly string[] {
  return subjects.find(([words]) => words.test(heading))?.[1](told) ?? [];
}
