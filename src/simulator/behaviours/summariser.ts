// summariser: a deterministic summary made of quotes from the conversation.
import type { Model, Prompt, PromptTurn, Reply } from "../prompt.ts";
import { findPaths } from "./find-paths.ts";

export function createSummariser(): Model {
  return summarise;
}

export function summarise(prompt: Prompt): Reply {
  const text = summaryOf(prompt);
  // Some clients read only the text between these tags.
  const isTagged = lastUserText(prompt).includes("<summary>");
  const shown = isTagged ? `<summary>\n${text}\n</summary>` : text;
  return { parts: [{ kind: "text", text: shown }], stop: "end" };
}

/** Whether the client's last message asks for a summary of the conversation. */
export function asksForSummary(prompt: Prompt): boolean {
  return prompt.turns.at(-1)?.role === "user" && isSummaryRequest(lastUserText(prompt));
}

const whatIsSummarised = "(?:conversation|session|transcript|context|discussion|messages)";
const requests: readonly RegExp[] = [
  new RegExp(`summary of (?:the|our|this)(?: \\w+)? ${whatIsSummarised}`, "i"),
  new RegExp(`summari[sz]e (?:the|our|this)(?: \\w+)? ${whatIsSummarised}`, "i"),
  /(?:handoff|checkpoint|compaction) summary/i,
  /context checkpoint/i,
  /continuing our conversation/i,
];

function isSummaryRequest(text: string): boolean {
  return requests.some((request) => request.test(text));
}

/** A summary counts the steps done, so that the agent does not start over after it. */
export const stepsLine = "Tool steps so far:";

/** Tool calls, plus those counted in an earlier summary. */
export function stepsIn(turns: readonly PromptTurn[]): number {
  const counted = turns.flatMap(({ text }) =>
    [...text.matchAll(new RegExp(`${stepsLine} (\\d+)`, "g"))].map((match) => Number(match[1])),
  );
  const done = turns.filter(({ toolUses }) => toolUses.length > 0).length;
  return done + Math.max(0, ...counted);
}

function summaryOf(prompt: Prompt): string {
  const { turns, instructions, outputTokensMax } = prompt;
  const request = instructions ?? (asksForSummary(prompt) ? lastUserText(prompt) : "");
  const wishes = turns
    .filter(({ role }) => role === "user")
    .flatMap(({ text }) => (isSummaryRequest(text) ? asksIn(text) : [withoutTags(text)]))
    .map((text) => shorten(text, 300))
    .filter((text) => text !== "");
  const said = turns.findLast(({ role, text }) => role === "assistant" && text.trim() !== "");
  const contents: SummaryContents = {
    asked: [...wishes.slice(0, 1), ...wishes.slice(1).slice(-5)],
    tools: countTools(turns),
    files: [...new Set(turns.flatMap(pathsOf))].slice(0, 20),
    errors: errorsIn(turns).slice(-5),
    said: said === undefined ? null : shorten(said.text, 600),
    keep: instructions === null ? null : shorten(instructions, 300),
  };
  // The end must not be cut. A token is about four characters; this leaves some room.
  const end = [...list("Word for word", quotedIn(request)), `${stepsLine} ${stepsIn(turns)}`];
  const last = `\n${end.join("\n")}`;
  const tokensMax = Math.min(2_000, outputTokensMax, limitIn(request) ?? outputTokensMax);
  const room = Math.max(0, Math.max(200, tokensMax * 3) - last.length);
  const headings = headingsIn(request);
  if (headings.length === 0) return inOrder(contents).join("\n").slice(0, room) + last;
  const earlier = turns.filter(({ role }) => role === "user").map(({ text }) => text);
  return underHeadings(headings, contents, { earlier, charactersMax: room }).join("\n") + last;
}

function inOrder({ keep, asked, tools, files, said }: SummaryContents): string[] {
  return [
    "What happened so far.",
    ...(keep === null ? [] : [`To keep: ${keep}`]),
    ...list("Asked for", asked),
    ...list("Tools used", tools),
    ...list("Files seen", files),
    ...(said === null ? [] : [`Said last: ${said}`]),
  ];
}

function errorsIn(turns: readonly PromptTurn[]): readonly string[] {
  return turns
    .flatMap(({ toolResults }) => toolResults.filter(({ isError }) => isError))
    .map(({ text }) => shorten(text, 160));
}

function list(title: string, items: readonly string[]): string[] {
  return items.length === 0 ? [] : [`${title}:`, ...items.map((item) => `- ${item}`)];
}

function countTools(turns: readonly PromptTurn[]): string[] {
  const counts = new Map<string, number>();
  for (const { name } of turns.flatMap(({ toolUses }) => toolUses)) {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => `${name}, ${count} times`);
}

function pathsOf({ toolResults }: PromptTurn): readonly string[] {
  return toolResults.flatMap(({ text }) => findPaths(text));
}

export function lastUserText({ turns }: Prompt): string {
  return turns.findLast(({ role, text }) => role === "user" && text !== "")?.text ?? "";
}

/** The last question, without text that clients put between tags for the model. */
export function lastQuestion({ turns }: Prompt): string {
  const asked = turns.filter(({ role }) => role === "user").map(({ text }) => withoutTags(text));
  return asked.findLast((text) => text !== "") ?? "";
}

function withoutTags(text: string): string {
  return text.replace(/<([a-z][\w-]*)>[\s\S]*?<\/\1>/g, "").trim();
}

/** One line, cut to a length. */
export function shorten(text: string, charactersMax: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= charactersMax ? line : `${line.slice(0, charactersMax - 1)}…`;
}

interface SummaryContents {
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
function limitIn(request: string): number | null {
  const limits = [...request.matchAll(/(\d{2,5}) (?:tokens|words)/g)].map((match) =>
    Number(match[1]),
  );
  return limits.length === 0 ? null : Math.max(...limits);
}

/** What the user asked, from a conversation given as text. */
function asksIn(transcript: string): readonly string[] {
  const labelled = transcript.matchAll(/^(?:\[(?:user|human)\]\n|(?:user|human): *)(\S.*)$/gim);
  return [...labelled].map((match) => match[1] ?? "");
}

/**
 * One section per heading, in order, of about equal length: first the items of an earlier summary under that heading,
 * then the contents that fit the heading's words.
 */
function underHeadings(
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
