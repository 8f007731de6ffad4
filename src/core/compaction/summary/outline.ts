// An outline without a model: who asked for what, what was done, and how it ended.
import type { HistoryMessage } from "../history.ts";
import type { Block, Message, ToolUseBlock } from "../../message/message.ts";
import { previousNotes } from "./read-notes-message.ts";
import { cutToTokens, toLine } from "./shorten.ts";

export interface OutlineRoom {
  readonly tokensMax: number;
  readonly countText: (text: string) => number;
}

/** The most detail that fits. Turns in the middle are omitted first, with their number. */
export function outlineHistory(messages: readonly HistoryMessage[], room: OutlineRoom): string {
  const { tokensMax, countText } = room;
  const previous = previousNotes(messages);
  const before =
    previous === null || previous.trim() === ""
      ? ""
      : `What came before:\n${cutToTokens(previous.trim(), Math.floor(tokensMax / 2), countText)}\n\n`;
  const turns = toTurns(messages);
  const fits = (text: string): boolean => countText(before + text) <= tokensMax;
  for (const detail of details) {
    const text = turns.map((turn) => renderTurn(turn, detail)).join("\n");
    if (fits(text)) return (before + text).trim();
  }
  const lines = turns.map((turn) => renderTurn(turn, leastDetail));
  return cutToTokens((before + withoutMiddle(lines, fits)).trim(), tokensMax, countText);
}

interface Detail {
  /** For a request; other texts get half. */
  readonly characters: number;
  /** The limit for texts between calls. */
  readonly wordsMax: number;
}

const leastDetail: Detail = { characters: 60, wordsMax: 0 };
const details: readonly Detail[] = [
  { characters: 600, wordsMax: 100 },
  { characters: 600, wordsMax: 30 },
  { characters: 600, wordsMax: 10 },
  { characters: 300, wordsMax: 10 },
  { characters: 300, wordsMax: 3 },
  { characters: 140, wordsMax: 1 },
  { characters: 140, wordsMax: 0 },
  leastDetail,
];

interface OutlinedTurn {
  readonly asked: string;
  readonly tools: ReadonlyMap<string, number>;
  readonly files: readonly string[];
  readonly errors: readonly string[];
  /** Every reply with text, in order. */
  readonly said: readonly string[];
}

function toTurns(messages: readonly HistoryMessage[]): readonly OutlinedTurn[] {
  const turns = new Map<string, Message[]>();
  for (const { turnId, message, compactionPart } of messages) {
    if (compactionPart === "notes") continue;
    const turn = turns.get(turnId);
    if (turn === undefined) turns.set(turnId, [message]);
    else turn.push(message);
  }
  return [...turns.values()].map(toTurn);
}

function toTurn(messages: readonly Message[]): OutlinedTurn {
  const blocks = messages.flatMap(({ content }) => content);
  const uses = blocks.filter((block) => block.type === "tool_use");
  const tools = new Map<string, number>();
  for (const { name } of uses) tools.set(name, (tools.get(name) ?? 0) + 1);
  const errors = blocks.flatMap((block) =>
    block.type === "tool_result" && block.isError ? [textOf(block.content)] : [],
  );
  const replies = messages.filter(({ role }) => role === "assistant");
  const asked = messages.filter(({ role }) => role === "user");
  return {
    asked: asked.map(({ content }) => textOf(content)).join("\n"),
    tools,
    files: [...new Set(uses.flatMap(filesOf))],
    errors: [...new Set(errors.map((error) => toLine(error, 160)))],
    said: replies.map(({ content }) => textOf(content)).filter((text) => text !== ""),
  };
}

function textOf(content: readonly Block[]): string {
  return content
    .map((block) => (block.type === "text" ? block.text : ""))
    .join("\n")
    .trim();
}

/** File paths in a tool's input, found by field name. */
function filesOf({ inputJson }: ToolUseBlock): readonly string[] {
  try {
    const input: unknown = JSON.parse(inputJson);
    if (typeof input !== "object" || input === null) return [];
    return Object.entries(input).flatMap(([name, value]) =>
      /path|file/i.test(name) && typeof value === "string" && isPathLike(value) ? [value] : [],
    );
  } catch {
    return [];
  }
}

function isPathLike(value: string): boolean {
  return value.length <= 300 && !value.includes("\n") && /[./\\]/.test(value);
}

function renderTurn(turn: OutlinedTurn, { characters, wordsMax }: Detail): string {
  const { asked, tools, files, errors, said } = turn;
  const countMax = Math.ceil(characters / 40);
  const used = [...tools].map(([name, count]) => `${name} ×${count}`);
  const last = said.at(-1);
  const before = wordsMax === 0 ? [] : said.slice(0, -1).slice(-wordsMax);
  return [
    `- Asked: ${asked === "" ? "(nothing in words)" : toLine(asked, characters)}`,
    ...line("Tools", used, countMax * 2),
    ...line("Files", files, countMax),
    ...line("Errors", errors, Math.ceil(countMax / 4)),
    ...before.map((words) => `  Said: ${toLine(words, Math.ceil(characters / 4))}`),
    ...(last === undefined ? [] : [`  Said last: ${toLine(last, Math.ceil(characters / 2))}`]),
  ].join("\n");
}

function line(title: string, items: readonly string[], countMax: number): readonly string[] {
  if (items.length === 0) return [];
  const more = items.length > countMax ? `, and ${items.length - countMax} more` : "";
  // The latest ones are in work.
  return [`  ${title}: ${items.slice(-countMax).join(", ")}${more}`];
}

/** The first turn states the goal. The latest of the others follow, as many as fit. */
function withoutMiddle(turns: readonly string[], fits: (text: string) => boolean): string {
  const [first = "", ...rest] = turns;
  const render = (from: number): string =>
    [first, ...(from === 0 ? [] : [`- … ${from} turns left out …`]), ...rest.slice(from)].join(
      "\n",
    );
  // The length falls as `from` grows, so binary search finds the fewest omissions.
  let [tooFew, enough] = [0, rest.length];
  while (enough - tooFew > 1) {
    const middle = Math.floor((tooFew + enough) / 2);
    if (fits(render(middle))) enough = middle;
    else tooFew = middle;
  }
  return render(enough);
}
