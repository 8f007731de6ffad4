// A history that no window holds, in parts that one does.
import type { HistoryMessage } from "../history.ts";
import { wellFormed } from "./shorten.ts";
import { renderMessage } from "./transcript.ts";

/** A part takes at most this of the window, by a count that may be too low by the safety. */
const chunkShare = 0.4;
export const countSafety = 1.2;

export interface ChunkRoom {
  readonly windowTokens: number;
  readonly countText: (text: string) => number;
}

/** What one part may take, as we count. */
export function chunkTokensMax(windowTokens: number): number {
  return Math.max(1, Math.floor((windowTokens * chunkShare) / countSafety));
}

/**
 * Transcripts of consecutive parts, the oldest first. A part ends at the end of a turn, or between two
 * calls of one; a single message that is larger than a part is split.
 */
export function chunkHistory(
  messages: readonly HistoryMessage[],
  room: ChunkRoom,
): readonly string[] {
  const tokensMax = chunkTokensMax(room.windowTokens);
  const units = toUnits(messages, room).flatMap((unit) => splitUnit(unit, tokensMax, room));
  const chunks: string[] = [];
  let chunk: Unit[] = [];
  for (const unit of units) {
    if (chunk.length > 0 && tokensOf(chunk) + unit.tokens > tokensMax) {
      const cut = cutPlace([...chunk, unit]);
      chunks.push(join(chunk.slice(0, cut)));
      chunk = chunk.slice(cut);
    }
    chunk.push(unit);
  }
  return chunk.length === 0 ? chunks : [...chunks, join(chunk)];
}

/** What must stay together: a reply and what its tools answered, or one message of another kind. */
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
      .map(({ message }) => renderMessage(message))
      .filter((each) => each !== "")
      .join("\n\n");
    const beginsTurn = group[0]?.turnId !== turnId;
    turnId = group[0]?.turnId ?? turnId;
    return text === "" ? [] : [{ text, tokens: countText(text) + joinTokens, beginsTurn }];
  });
}

/** The empty line between two units. */
const joinTokens = 1;

/** At lines where it can, else anywhere. */
function splitUnit(unit: Unit, tokensMax: number, { countText }: ChunkRoom): Unit[] {
  if (unit.tokens <= tokensMax) return [unit];
  const pieces: Unit[] = [];
  for (let rest = unit.text; rest !== "";) {
    const text = headWithin(rest, tokensMax - joinTokens, countText);
    rest = rest.slice(text.length);
    const beginsTurn = pieces.length === 0 && unit.beginsTurn;
    pieces.push({ text, tokens: countText(text) + joinTokens, beginsTurn });
  }
  return pieces;
}

function headWithin(text: string, tokensMax: number, countText: ChunkRoom["countText"]): string {
  let length = text.length;
  // Proportional steps come close at once; every count is of a text that may still be too large.
  for (
    let tokens = countText(text);
    tokens > tokensMax;
    tokens = countText(text.slice(0, length))
  ) {
    const next = Math.floor(length * Math.min(0.95, tokensMax / tokens));
    if (next < 1) return text.slice(0, 1);
    length = next;
  }
  if (length === text.length) return text;
  const line = text.lastIndexOf("\n", length - 1);
  const cut = line > length / 2 ? line + 1 : wellFormed(text.slice(0, length)).length;
  return text.slice(0, Math.max(1, cut));
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
