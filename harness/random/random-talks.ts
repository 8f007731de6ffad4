// Random conversations with markers, spelled as bodies of Converse and of Messages, and read naively for billing.
import type {
  BillableBlock,
  BillableMarker,
} from "../../src/simulator/billing/billable-request.ts";
import type { Random } from "../random-message.ts";

export interface Piece {
  readonly kind: "tool" | "text" | "use" | "result";
  /** A tool's name, a text, or the id of a use. */
  readonly text: string;
  readonly mark: "5m" | "1h" | null;
}

export interface Talk {
  readonly tools: readonly Piece[];
  readonly system: readonly Piece[];
  /** From the user, in turn with the assistant. */
  readonly turns: readonly (readonly Piece[])[];
}

/** A conversation that begins with a few tools and texts. */
export function randomTalk(random: Random, made: () => string): Talk {
  return {
    tools: many(below(random, 4), () => piece("tool", made())),
    system: many(below(random, 4), () => piece("text", longText(random, made()))),
    turns: [[piece("text", longText(random, made()))]],
  };
}

/** One turn of the assistant and one of the user: text, or uses of tools and their results. */
export function grown(random: Random, talk: Talk, made: () => string): Talk {
  const ids =
    talk.tools.length === 0 || random() < 0.4 ? [] : many(1 + below(random, 12), () => made());
  const asked = [piece("text", longText(random, made())), ...ids.map((id) => piece("use", id))];
  const texts = many(ids.length === 0 ? 1 + below(random, 8) : below(random, 2), () =>
    piece("text", longText(random, made())),
  );
  const answered = [...ids.map((id) => piece("result", id)), ...texts];
  return { ...talk, turns: [...talk.turns, asked, answered] };
}

/** Marks at most four places, with longer lifetimes before shorter ones. */
export function marked(random: Random, talk: Talk): Talk {
  const count = placesOf(talk).length;
  const chosen = new Set(
    many(below(random, 5), () => count - 1 - below(random, random() < 0.6 ? 3 : count)),
  );
  const order = [...chosen].toSorted((left, right) => left - right);
  const hours = random() < 0.5 ? below(random, order.length + 1) : 0;
  let place = -1;
  const mark = (each: Piece, isPlace: boolean): Piece => {
    if (isPlace) place += 1;
    const at = isPlace ? order.indexOf(place) : -1;
    return { ...each, mark: at === -1 ? null : at < hours ? "1h" : "5m" };
  };
  return {
    tools: talk.tools.map((each) => mark(each, true)),
    system: talk.system.map((each) => mark(each, true)),
    turns: talk.turns.map((pieces, turn) =>
      pieces.map((each, index) => mark(each, isMarkable(pieces, turn, index))),
    ),
  };
}

/** The beginning of a conversation up to a place where a request may end. */
export interface Place {
  readonly talk: Talk;
  readonly tier: BillableBlock["tier"];
  /** Number of its blocks. */
  readonly blocks: number;
}

/** Every place that can carry a mark: after a tool, after a system text, after a text or the last result of the user. */
export function placesOf({ tools, system, turns }: Talk): readonly Place[] {
  const places: Place[] = [];
  let blocks = 0;
  for (const index of tools.keys()) {
    blocks += 1;
    places.push({
      talk: { tools: tools.slice(0, index + 1), system: [], turns: [] },
      tier: "tools",
      blocks,
    });
  }
  for (const index of system.keys()) {
    blocks += 1;
    places.push({
      talk: { tools, system: system.slice(0, index + 1), turns: [] },
      tier: "system",
      blocks,
    });
  }
  for (const [turn, pieces] of turns.entries()) {
    for (const index of pieces.keys()) {
      blocks += 1;
      if (!isMarkable(pieces, turn, index)) continue;
      const until = [...turns.slice(0, turn), pieces.slice(0, index + 1)];
      places.push({ talk: { tools, system, turns: until }, tier: "messages", blocks });
    }
  }
  return places;
}

/** A request may not end between the results of one turn. */
function isMarkable(pieces: readonly Piece[], turn: number, index: number): boolean {
  return turn % 2 === 0 && pieces[index + 1]?.kind !== "result";
}

/** Blocks and markers, read piece by piece. The tokens are those at the places, as they were counted. */
export function toBlocks(
  talk: Talk,
  tokensAt: readonly number[],
): { readonly blocks: readonly BillableBlock[]; readonly markers: readonly BillableMarker[] } {
  const blocks: BillableBlock[] = [];
  const markers: BillableMarker[] = [];
  const add = ({ kind, text, mark }: Piece, tier: BillableBlock["tier"], role: string): void => {
    const run = kind === "use" ? "tool_use" : kind === "result" ? "tool_result" : null;
    if (mark !== null) markers.push({ block: blocks.length, lifetime: mark, origin: "explicit" });
    blocks.push({ hash: `${role} ${kind} ${text}`, tokens: 0, tier, run, boundary: null });
  };
  for (const each of talk.tools) add(each, "tools", "tool");
  for (const each of talk.system) add(each, "system", "system");
  for (const [turn, pieces] of talk.turns.entries())
    for (const each of pieces) add(each, "messages", turn % 2 === 0 ? "user" : "assistant");
  let before = 0;
  for (const [index, place] of placesOf(talk).entries()) {
    const until = tokensAt[index] ?? 0;
    const block = blocks[place.blocks - 1];
    if (block !== undefined) blocks[place.blocks - 1] = { ...block, tokens: until - before };
    before = until;
  }
  return { blocks, markers };
}

function piece(kind: Piece["kind"], text: string): Piece {
  return { kind, text, mark: null };
}

function longText(random: Random, name: string): string {
  return `${name} `.repeat(1 + below(random, 150)).trim();
}

export function below(random: Random, limit: number): number {
  return Math.floor(random() * limit);
}

function many<Item>(count: number, make: () => Item): Item[] {
  return Array.from({ length: count }, make);
}
