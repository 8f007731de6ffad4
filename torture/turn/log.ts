// A ledger as small as can be: everything that was recorded, in order, and the few questions a turn asks of it. It
// keeps the rules of the stores: what belongs to which call, what is replayed, what a compaction hides.
import { isDeepStrictEqual } from "node:util";
import type { CallEntry, CallRecord } from "../../src/core/ledger/call-entry.ts";
import type { CompactionRecord, NewCompaction } from "../../src/core/ledger/compaction-record.ts";
import type { WithCall } from "../../src/core/ledger/ledger.ts";
import { withoutThinking } from "../../src/core/message/without-thinking.ts";
import type {
  LeftInTurn,
  NewMessage,
  NextModel,
  ThreadMessage,
  TurnEnd,
  TurnStatus,
} from "../../src/core/ledger/turn-record.ts";
import type { JsonText, Message } from "../../src/core/message/message.ts";
import type { ShownHistory } from "../../src/core/turn/compaction/compaction-input.ts";
import { firstPlace, type SetupPlace } from "../../src/core/session/session.ts";
import type { RecordedTurn } from "../../src/core/turn/restore-turn.ts";

/** One write, as it is compared with that of another course. */
export interface Commit {
  readonly what: "open turn" | "answer" | "call" | "fold" | "switch" | "close";
  readonly turnId: string;
  /** The call that is under way or recorded. */
  readonly call: number;
  readonly rows: unknown;
  /** What the session knows, as it is recorded with it. */
  readonly stateJson?: JsonText | undefined;
}

interface LoggedTurn {
  readonly id: string;
  /** Its place among all turns: a compaction stands before the turn that it was made in. */
  readonly place: number;
  parentTurnId: string | null;
  status: TurnStatus;
  readonly startMs: number;
  switches: readonly LeftInTurn[];
  messages: readonly ThreadMessage[];
  calls: readonly CallRecord[];
  readonly compaction: CompactionRecord | null;
  /** Places of the messages that are recorded for the next call. */
  staged: readonly number[];
}

export interface TurnToOpen {
  readonly id: string;
  readonly parentTurnId: string | null;
  readonly startMs: number;
  readonly messages: readonly NewMessage[];
}

export interface Log {
  readonly headTurnId: string | null;
  readonly openTurnId: string | null;
  readonly stateJson: JsonText | null;
  /** The id of the model that goes on; null for the first one. */
  readonly model: string | null;
  /** Where its setup is recorded. */
  readonly setupPlace: SetupPlace;
  /** The names of models that were left. */
  readonly left: readonly string[];
  readonly commits: readonly Commit[];
  /** Calls of all turns that came to something. */
  readonly answeredCount: number;
  readonly compactionCount: number;
  hasTurn(id: string): boolean;
  parentOf(turnId: string): string | null;
  openTurn(turn: TurnToOpen): void;
  answer(turnId: string, messages: readonly NewMessage[]): void;
  append(entry: CallEntry, more: WithCall): void;
  compaction(turnId: string, compaction: NewCompaction): void;
  switchModel(turnId: string, next: NextModel): void;
  close(turnId: string, end: TurnEnd): void;
  /** The conversation up to the session's head, or with a turn as far as it came. */
  shown(turnId: string | null): ShownHistory;
  recorded(turnId: string): RecordedTurn;
  /** The same rows, to be written to without a trace here. */
  copy(): Log;
}

interface LogState {
  headTurnId: string | null;
  openTurnId: string | null;
  stateJson: JsonText | null;
  model: string | null;
  setupPlace: SetupPlace;
  answeredCount: number;
  turns: LoggedTurn[];
  commits: Commit[];
}

export function openLog(
  start: LogState = {
    headTurnId: null,
    openTurnId: null,
    stateJson: null,
    model: null,
    setupPlace: firstPlace,
    answeredCount: 0,
    turns: [],
    commits: [],
  },
): Log {
  const state = start;
  const need = (id: string): LoggedTurn => {
    const found = state.turns.find((turn) => turn.id === id);
    if (found === undefined) throw new Error(`there is no turn ${id}`);
    return found;
  };
  const needOpen = (id: string): LoggedTurn => {
    if (state.openTurnId !== id) throw new Error(`turn ${id} is not open`);
    return need(id);
  };
  const commit = (made: Commit): void => {
    state.commits.push(made);
    if (made.stateJson !== undefined) state.stateJson = made.stateJson;
  };
  return {
    get headTurnId() {
      return state.headTurnId;
    },
    get openTurnId() {
      return state.openTurnId;
    },
    get stateJson() {
      return state.stateJson;
    },
    get model() {
      return state.model;
    },
    get setupPlace() {
      return state.setupPlace;
    },
    get left() {
      return state.turns.flatMap(({ switches }) => switches.map(({ name }) => name));
    },
    get commits() {
      return state.commits;
    },
    get answeredCount() {
      return state.answeredCount;
    },
    get compactionCount() {
      return state.turns.filter(({ compaction }) => compaction !== null).length;
    },
    hasTurn: (id) => state.turns.some((turn) => turn.id === id),
    parentOf: (id) => need(id).parentTurnId,
    openTurn: ({ id, parentTurnId, startMs, messages }) => {
      if (state.openTurnId !== null || state.headTurnId !== parentTurnId) {
        throw new Error(`turn ${id} cannot be opened after ${String(parentTurnId)}`);
      }
      const rows = toRows(messages, { turnId: id, from: 0, callNumber: 1 });
      const turn: LoggedTurn = {
        id,
        place: state.turns.length,
        parentTurnId,
        status: "pending",
        startMs,
        switches: [],
        messages: rows,
        calls: [],
        compaction: null,
        staged: rows.map(({ index }) => index),
      };
      state.turns.push(turn);
      state.openTurnId = id;
      if (!state.setupPlace.isRecorded) state.setupPlace = broughtBy(id);
      commit({ what: "open turn", turnId: id, call: 1, rows: { parentTurnId, startMs, rows } });
    },
    answer: (turnId, messages) => {
      const turn = needOpen(turnId);
      const call = turn.calls.length + 1;
      const rows = toRows(messages, { turnId, from: turn.messages.length, callNumber: call });
      turn.messages = [...turn.messages, ...rows];
      turn.staged = [...turn.staged, ...rows.map(({ index }) => index)];
      commit({ what: "answer", turnId, call, rows });
    },
    append: (entry, more) => {
      const { sent, reply, ...call } = entry;
      const turn = needOpen(entry.turnId);
      if (call.number !== turn.calls.length + 1) throw new Error(`call ${call.number} twice`);
      const isFailed = call.status === "failed";
      if (!isFailed && sent.length < turn.staged.length)
        throw new Error("less was sent than is recorded");
      const model = state.model ?? "";
      const rows = isFailed
        ? []
        : rowsOfCall(turn, entry, more).map((each) => ({ ...each, model }));
      turn.messages = [...turn.messages, ...rows];
      turn.calls = [...turn.calls, call];
      // What a call that came to nothing sent is sent again.
      if (call.status === "complete") turn.staged = [];
      if (call.status === "complete") state.answeredCount += 1;
      const { stateJson } = more;
      const recorded = { call, rows, reply };
      commit({ what: "call", turnId: turn.id, call: call.number, rows: recorded, stateJson });
    },
    compaction: (turnId, compaction) => {
      const turn = needOpen(turnId);
      if (compaction.parentTurnId !== turn.parentTurnId) throw new Error("another head is folded");
      checkParts(turn, compaction);
      state.turns.push(toCompactionTurn(compaction, turn.place - 1 + state.turns.length / 1000));
      const { firstKeptTurnId, firstKeptIndex = 0 } = compaction.details;
      if (firstKeptTurnId === turnId) {
        turn.staged = turn.staged.filter((index) => index >= firstKeptIndex);
      }
      turn.parentTurnId = compaction.id;
      state.headTurnId = compaction.id;
      if (state.model !== null) state.setupPlace = { ...firstPlace, after: ownAfterIn(compaction) };
      const { stateJson, foundation: _foundation, ...rows } = compaction;
      commit({ what: "fold", turnId, call: turn.calls.length + 1, rows, stateJson });
    },
    switchModel: (turnId, { left, stateJson, model, provider, setupJson }) => {
      const turn = needOpen(turnId);
      if (left.through !== turn.calls.length)
        throw new Error("a model is left after its last call");
      turn.switches = [...turn.switches, left];
      state.model = model;
      state.setupPlace = broughtBy(turnId);
      const rows = { left, model, provider, setupJson };
      commit({ what: "switch", turnId, call: left.through, rows, stateJson });
    },
    close: (turnId, end) => {
      const turn = needOpen(turnId);
      turn.status = end.status;
      state.openTurnId = null;
      if (end.status === "completed") {
        state.headTurnId = turnId;
        state.setupPlace = { ...state.setupPlace, isRecorded: true };
      }
      const { stateJson, ...rows } = end;
      commit({ what: "close", turnId, call: turn.calls.length, rows, stateJson });
    },
    shown: (turnId) =>
      withOwnThinking(showThread(state.turns, turnId ?? state.headTurnId, turnId), state.model),
    recorded: (turnId) => {
      const turn = need(turnId);
      const { messages, calls } = turn;
      const { compaction } = showThread(state.turns, turnId, turnId);
      const { stateJson } = state;
      return { turn, messages, calls, compaction, compactions: [], toolCalls: 0, stateJson };
    },
    copy: () => {
      const turns = state.turns.map((turn) => ({ ...turn }));
      return openLog({ ...state, turns, commits: [] });
    },
  };
}

function broughtBy(turnId: string): SetupPlace {
  return { turnId, isRecorded: false, after: null };
}

function ownAfterIn({ details: { metadataJson } }: NewCompaction): string | null {
  const made = JSON.parse(metadataJson ?? "{}") as { setup?: { ownAfter?: string } };
  return made.setup?.ownAfter ?? null;
}

function toRows(
  messages: readonly NewMessage[],
  { turnId, from, callNumber }: { turnId: string; from: number; callNumber: number },
): readonly ThreadMessage[] {
  return messages.map(({ message, tokens, source, contextJson, isReplayed = true }, at) => ({
    turnId,
    model: "",
    provider: "",
    index: from + at,
    callNumber,
    message,
    tokens,
    source: source ?? null,
    contextJson: contextJson ?? null,
    hash: "",
    isReplayed,
    wholeHash: null,
    messageId: null,
    createdMs: null,
  }));
}

/** No model sees the thinking of another one. Rows of the first model have no name. */
function withOwnThinking(
  { messages, compaction }: ShownHistory,
  model: string | null,
): ShownHistory {
  const shown = messages.map((each) =>
    each.model === (model ?? "") ? each : { ...each, message: withoutThinking(each.message) },
  );
  return { messages: shown, compaction };
}

/** What it sent beyond what is recorded, and its reply. */
function rowsOfCall(
  { id, messages, staged }: LoggedTurn,
  { sent, reply, status, number }: CallEntry,
  { tokens = [], isReplayed = status === "complete" }: WithCall,
): readonly ThreadMessage[] {
  const all = reply === null ? sent : [...sent, reply];
  const kept = all.map((message, at) => ({ message, tokens: tokens[at] ?? 0, isReplayed }));
  return toRows(kept.slice(staged.length), {
    turnId: id,
    from: messages.length,
    callNumber: number,
  });
}

function toCompactionTurn(
  { id, parentTurnId, sessionId, messages, details }: NewCompaction,
  place: number,
): LoggedTurn {
  return {
    id,
    place,
    parentTurnId,
    status: "completed",
    startMs: details.compactedMs,
    switches: [],
    messages: toRows(messages, { turnId: id, from: 0, callNumber: 0 }),
    calls: [],
    compaction: {
      firstKeptIndex: 0,
      indexJson: null,
      metadataJson: null,
      ...details,
      turnId: id,
      sessionId,
      foundationHash: null,
    },
    staged: [],
  };
}

/** No tool use before the place from which a turn is kept is answered after it. */
function checkParts({ id, messages }: LoggedTurn, { details }: NewCompaction): void {
  const { firstKeptTurnId, firstKeptIndex = 0 } = details;
  if (firstKeptTurnId !== id) return;
  const hidden = messages.slice(0, firstKeptIndex).filter(({ isReplayed }) => isReplayed);
  const blocks = hidden.flatMap(({ message }) => message.content);
  const answered = new Set(blocks.map((block) => block.type === "tool_result" && block.toolUseId));
  const open = blocks.find((block) => block.type === "tool_use" && !answered.has(block.id));
  if (open !== undefined) throw new Error("a compaction parts a tool use from its answer");
}

/** `running`: read as far as it came; only completed turns besides. */
function showThread(
  turns: readonly LoggedTurn[],
  end: string | null,
  running: string | null,
): ShownHistory {
  const path: LoggedTurn[] = [];
  const byId = new Map(turns.map((turn) => [turn.id, turn]));
  for (let turn = byId.get(end ?? ""); turn !== undefined;) {
    path.unshift(turn);
    turn = byId.get(turn.parentTurnId ?? "");
  }
  const compacted = path.findLast(({ compaction }) => compaction !== null);
  const compaction = compacted?.compaction ?? null;
  const first = byId.get(compaction?.firstKeptTurnId ?? compaction?.summarizedThroughTurnId ?? "");
  const from = first === undefined ? -1 : first.place;
  const kept = path.filter((turn) => {
    if (turn.compaction !== null || (turn.status !== "completed" && turn.id !== running))
      return false;
    return compaction?.firstKeptTurnId === null ? turn.place > from : turn.place >= from;
  });
  const rows = kept.flatMap(({ id, messages }) => {
    const cut = id === compaction?.firstKeptTurnId ? compaction.firstKeptIndex : 0;
    return messages.filter(({ isReplayed, index }) => isReplayed && index >= cut);
  });
  return { messages: [...(compacted?.messages ?? []), ...rows], compaction };
}

/** The messages of both, one by one; the same object is the rule. */
export function isSameTalk(one: readonly Message[], other: readonly Message[]): boolean {
  return (
    one.length === other.length &&
    one.every((message, at) => message === other[at] || isDeepStrictEqual(message, other[at]))
  );
}
