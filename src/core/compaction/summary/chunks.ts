// Splits a history that is too long for one window into parts that fit.
import type { HistoryMessage } from "../history.ts";
import { wellFormed } from "./shorten.ts";
import { renderMessage } from "./transcript.ts";

/** The share of the window for one part. Our count may be too low by `countSafety`. */
const chunkShare = 0.4;
export const countSafety = 1.2;

export interface ChunkRoom {
  readonly windowTokens: number;
  readonly countText: (text: string) => number;
}

/** The limit for one part, in our count. */
export function chunkTokensMax(windowTokens: number): number {
  return Math.max(1, Math.floor((windowTokens * chunkShare) / countSafety));
}

/**
 * Transcripts of consecutive parts, oldest first. A part ends at the end of a turn or between two calls; a
 * single message larger than a part is split.
 */
export function chunkHistory(
  messages: readonly HistoryMessage[],
  room: ChunkRoom,
): readonly string[] {
  const tokensMax = chunkTokensMax(room.windowTokens);
  const units = toUnits(messages, room).flatMap((unit) => splitUnit(unit, tokensMax, room));
  const chunks: string[] = [];
  let chunk: Unit[] = [];
  let tokens = 0;
  for (const unit of units) {
    if (chunk.length > 0 && tokens + unit.tokens > tokensMax) {
      const cut = cutPlace([...chunk, unit]);
      chunks.push(join(chunk.slice(0, cut)));
      chunk = chunk.slice(cut);
      tokens = tokensOf(chunk);
    }
    chunk.push(unit);
    tokens += unit.tokens;
  }
  return chunk.length === 0 ? chunks : [...chunks, join(chunk)];
}

/** What must stay together: a reply with its tool results, or one other message. */
interface Unit {
  readonly text: string;
  readonly tokens: number;
  readonly beginsTurn: boolean;
}

function toUnits(messages: readonly HistoryMessage[], { countText }: ChunkRoom): Unit[] {
  const groups: HistoryMessage[][] = [];
  for (const each of messages) {
    const group = groups.at(-1);
    if (group !== undefined && each.message.role === "tool") group.push(each);
    else groups.push([each]);
  }
  let turnId: string | null = null;
  return groups.flatMap((group) => {
    const text = group
      .map(renderMessage)
      .filter((each) => each !== "")
      .join("\n\n");
    const beginsTurn = group[0]?.turnId !== turnId;
    turnId = group[0]?.turnId ?? turnId;
    return text === "" ? [] : [{ text, tokens: countText(text) + joinTokens, beginsTurn }];
  });
}

/** The empty line between two units. */
const joinTokens = 1;

/** Splits at line ends if possible. Counts piece by piece, so that the work is linear in the text. */
function splitUnit(unit: Unit, tokensMax: number, { countText }: ChunkRoom): Unit[] {
  if (unit.tokens <= tokensMax) return [unit];
  const pieces: Unit[] = [];
  let charactersPerToken = unit.text.length / unit.tokens;
  for (let from = 0; from < unit.text.length;) {
    // At least one character, or a tiny window would never end.
    const usual = Math.max(1, Math.ceil((tokensMax - joinTokens) * charactersPerToken));
    const text = headWithin(unit.text.slice(from, from + usual), tokensMax - joinTokens, countText);
    const isRest = from + text.length === unit.text.length;
    const piece = isRest ? text : text.slice(0, endOfLine(text));
    from += piece.length;
    const tokens = countText(piece) + joinTokens;
    charactersPerToken = Math.max(1, piece.length / tokens);
    pieces.push({ text: piece, tokens, beginsTurn: pieces.length === 0 && unit.beginsTurn });
  }
  return pieces;
}

function headWithin(text: string, tokensMax: number, countText: ChunkRoom["countText"]): string {
  let head = text;
  // Proportional steps converge fast. Each count is of a text that may still be too large.
  for (let tokens = countText(head); tokens > tokensMax; tokens = countText(head)) {
    const length = Math.floor(head.length * Math.min(0.95, tokensMax / tokens));
    if (length < 1) return text.slice(0, 1);
    head = head.slice(0, length);
  }
  return head;
}

/** Where a piece ends: after its last line if that is late enough, and never inside a surrogate pair. */
function endOfLine(text: string): number {
  const line = text.lastIndexOf("\n", text.length - 1);
  const cut = line > text.length / 2 ? line + 1 : wellFormed(text).length;
  return Math.max(1, cut);
}

/** Before the last turn that begins in the second half, else before the last unit. */
function cutPlace(units: readonly Unit[]): number {
  const turn = units.findLastIndex(({ beginsTurn }) => beginsTurn);
  const isLate = turn > 0 && tokensOf(units.slice(0, turn)) * 2 >= tokensOf(units);
  return isLate ? turn : units.length - 1;
}

function tokensOf(units: readonly Unit[]): number {
  return units.reduce((sum, { tokens }) => sum + tokens, 0);
}

function join(units: readonly Unit[]): string {
  return units.map(({ text }) => text).join("\n\n");
}
