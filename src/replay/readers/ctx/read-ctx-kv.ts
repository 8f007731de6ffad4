// Reads block traces: requests as numbered pieces of one size, without content. As ctx-kv/1 (runs of numbers that a request adds,
// a line for each), and as kv-cache-tester publishes them (one JSON value, every number of every request).
import { countIn, fieldsOf, listIn, textIn, type Fields } from "../../../core/message/fields.ts";
import type { Recorded, RecordedBlock } from "../../recording.ts";
import { openSession, skip, type LineReader, type Source } from "../line-reader.ts";

export function isCtxKv(line: Fields): boolean {
  return line["format"] === "ctx-kv/1" || line["kind"] === "kvtrace";
}

/** Where an agent's tools and system text end, in pieces. */
interface Head {
  readonly tools: number;
  readonly system: number;
}

interface KvState {
  readonly sessionId: string;
  readonly pieceTokens: number;
  /** By thread; the main thread is "". */
  readonly heads: Map<string, Head>;
  /** The number of pieces in each thread's last request. */
  readonly lengths: Map<string, number>;
  /** How many pieces the session may still add. A few bytes can ask for millions. */
  piecesLeft: number;
}

const piecesMax = 2_000_000;

export function createCtxKvReader(source: Source): LineReader {
  const { file } = source;
  let state: KvState | undefined;
  return {
    read(line, number) {
      if (isCtxKv(line)) {
        const opened = openTrace(line, source);
        state = opened.state;
        return [opened.opening];
      }
      if (state === undefined) return [skip(file, number, "it stands before the header")];
      if (line["kind"] === "subagent") {
        state.heads.set(textIn(line, "agent") ?? "", headOf(line, state.pieceTokens));
        return [];
      }
      if (line["kind"] !== "request") return [skip(file, number, "its kind is not known")];
      return [readRequest(line, state) ?? skip(file, number, "it is not a request of this format")];
    },
    end: () => [],
  };
}

/** One JSON value with all requests; those of a sub-agent in it, with times from its start. */
export function isPublishedKv(line: Fields): boolean {
  return Array.isArray(line["requests"]) && countIn(line, "block_size") !== undefined;
}

export function createPublishedKvReader(source: Source): LineReader {
  return {
    read(line, number) {
      if (!isPublishedKv(line)) return [skip(source.file, number, "it is no block trace")];
      const { opening, state } = openTrace(line, source);
      const last = new Map<string, readonly unknown[]>();
      const readAll = (requests: readonly unknown[], thread: string, startS: number): Recorded[] =>
        requests.flatMap((value): readonly Recorded[] => {
          const entry = fieldsOf(value);
          const t = typeof entry["t"] === "number" ? startS + entry["t"] : null;
          if (entry["type"] === "subagent") {
            const agent = textIn(entry, "agent_id") ?? "";
            state.heads.set(agent, headOf(entry, state.pieceTokens));
            return readAll(listIn(entry, "requests"), agent, t ?? startS);
          }
          const ids = listIn(entry, "hash_ids");
          const keep = sharedIds(last.get(thread) ?? [], ids);
          last.set(thread, ids);
          const append = ids.slice(keep).map((id) => [id, 1]);
          const asLine = { ...entry, agent: thread, t, keep, append };
          const wrong = skip(source.file, number, "a request is not of this format");
          return [readRequest(asLine, state) ?? wrong];
        });
      return [opening, ...readAll(listIn(line, "requests"), "", 0)];
    },
    end: () => [],
  };
}

function sharedIds(before: readonly unknown[], now: readonly unknown[]): number {
  const first = now.findIndex((id, place) => place >= before.length || id !== before[place]);
  return first === -1 ? now.length : first;
}

function openTrace(
  line: Fields,
  source: Source,
): { readonly opening: ReturnType<typeof openSession>; readonly state: KvState } {
  const opening = openSession(source, textIn(line, "id") ?? null, facts);
  const pieceTokens = countIn(line, "block_size") || 64;
  const state = {
    sessionId: opening.session.id,
    pieceTokens,
    heads: new Map([["", headOf(line, pieceTokens)]]),
    lengths: new Map<string, number>(),
    piecesLeft: piecesMax,
  };
  return { opening, state };
}

const facts = { format: "ctx-kv/1", agent: null, wire: null, blocks: "hashed pieces" } as const;

function headOf(line: Fields, pieceTokens: number): Head {
  const toolTokens = countIn(line, "tool_tokens") ?? 0;
  const headTokens = toolTokens + (countIn(line, "system_tokens") ?? 0);
  return {
    tools: Math.floor(toolTokens / pieceTokens),
    system: Math.floor(headTokens / pieceTokens),
  };
}

/** Undefined if the numbers are inconsistent. */
function readRequest(line: Fields, state: KvState): Recorded | undefined {
  const thread = textIn(line, "agent") ?? "";
  const head = state.heads.get(thread) ?? { tools: 0, system: 0 };
  const keep = countIn(line, "keep");
  const ids = pieceIds(listIn(line, "append"), state.piecesLeft);
  const promptTokens = countIn(line, "in");
  if (keep === undefined || keep > (state.lengths.get(thread) ?? 0)) return undefined;
  if (ids === undefined || promptTokens === undefined) return undefined;
  const pieces = keep + ids.length;
  state.lengths.set(thread, pieces);
  state.piecesLeft -= ids.length;
  const startMs = secondsToMs(line["t"]);
  const tookMs = secondsToMs(line["api_time"]);
  return {
    type: "request",
    sessionId: state.sessionId,
    request: {
      thread,
      startMs,
      endMs: startMs === null || tookMs === null ? null : startMs + tookMs,
      model: textIn(line, "model") ?? null,
      keep,
      append: ids.map((id, index) =>
        toPiece(id, keep + index, { head, tokens: state.pieceTokens, pieces }),
      ),
      remainderTokens: Math.max(0, promptTokens - state.pieceTokens * pieces),
      // The format has no cache counters; totals alone would look as if nothing was cached.
      usage: null,
      markers: null,
      settings: {},
    },
  };
}

/** Expands runs of a first id and a count. */
function pieceIds(runs: readonly unknown[], idsMax: number): number[] | undefined {
  const ids: number[] = [];
  for (const run of runs) {
    const [first, count]: readonly unknown[] = Array.isArray(run) ? run : [];
    if (!isWhole(first) || !isWhole(count)) return undefined;
    if (count < 0 || ids.length + count > idsMax) return undefined;
    for (let offset = 0; offset < count; offset += 1) ids.push(first + offset);
  }
  return ids;
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

interface PiecePlace {
  readonly head: Head;
  readonly tokens: number;
  /** Number of pieces in the whole request. */
  readonly pieces: number;
}

function toPiece(id: number, index: number, { head, tokens, pieces }: PiecePlace): RecordedBlock {
  const place = { hash: `kv:${id}`, tokens, mayCarryMarker: true };
  const endsMessage = index === pieces - 1;
  if (index < head.tools) {
    return { ...place, tier: "T0", kind: "tool definition", role: "tools", endsMessage };
  }
  if (index < head.system) {
    return { ...place, tier: "T1", kind: "system text", role: "system", endsMessage };
  }
  return { ...place, tier: "T3", kind: "text", role: "user", endsMessage };
}

function secondsToMs(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? Math.round(value * 1000) : null;
}
