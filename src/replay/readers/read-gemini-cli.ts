// Reads sessions of gemini-cli: one JSON value, or lines of messages that later lines replace, take back or set anew.
import { fieldsOf, isObject, listIn, textIn, type Fields } from "../../core/message/fields.ts";
import { findProtocolCalled } from "../../core/wire/foreign/recognise-protocol.ts";
import type { Recorded } from "../recording.ts";
import { createNode, createThreadWay, type ThreadWay, type TreeNode } from "./conversation-tree.ts";
import { answeredCalls, draftEntry, readTokens, withoutResults } from "./forms/gemini-messages.ts";
import { openSession, skip, timeMsOf, type LineReader, type Source } from "./line-reader.ts";

export function isGeminiCli(line: Fields): boolean {
  return (
    typeof line["sessionId"] === "string" &&
    typeof line["projectHash"] === "string" &&
    ("startTime" in line || Array.isArray(line["messages"]))
  );
}

interface Entry {
  readonly id: string;
  message: Fields;
  /** Null until a later message shows that this one is complete. */
  node: TreeNode | null;
  readonly line: number;
}

interface GeminiState {
  readonly source: Source;
  /** The conversation as it stands. */
  path: Entry[];
  readonly ids: Set<string>;
  /** Replies that are requests already. */
  readonly counted: Set<string>;
  session: string | null;
  opened: { readonly id: string; readonly way: ThreadWay } | null;
}

export function createGeminiCliReader(source: Source): LineReader {
  const state: GeminiState = {
    source,
    path: [],
    ids: new Set(),
    counted: new Set(),
    session: null,
    opened: null,
  };
  return {
    read(line, number) {
      if (typeof line["$rewindTo"] === "string") return rewind(line["$rewindTo"], state);
      if (isObject(line["$set"]))
        return setMessages(listIn(line["$set"], "messages"), number, state);
      if (isGeminiCli(line)) {
        state.session ??= textIn(line, "sessionId") ?? null;
        return listIn(line, "messages").flatMap((each) =>
          addMessage(fieldsOf(each), number, state),
        );
      }
      if (typeof line["id"] === "string") return addMessage(line, number, state);
      return [skip(source.file, number, "its kind is not known")];
    },
    end: () => closeLast(state),
  };
}

/** A message with a known id replaces it: replies are written again when their counts and results are known. */
function addMessage(message: Fields, line: number, state: GeminiState): Recorded[] {
  const id = textIn(message, "id");
  if (id === undefined) return [skip(state.source.file, line, "the message has no id")];
  const last = state.path.at(-1);
  if (last?.id === id && last.node === null) {
    last.message = message;
    return [];
  }
  const recorded = closeLast(state);
  if (state.ids.has(id)) replace(placeOf(id, state), message, state);
  else push({ id, message, node: null, line }, state);
  return recorded;
}

function push(entry: Entry, { path, ids }: GeminiState): void {
  path.push(entry);
  ids.add(entry.id);
}

function placeOf(id: string, { path }: GeminiState): number {
  return path.findIndex((entry) => entry.id === id);
}

/** What follows a replaced message is sent behind the new one. */
function replace(place: number, message: Fields, state: GeminiState): void {
  for (const [index, entry] of state.path.entries()) {
    if (index < place) continue;
    if (index === place) entry.message = message;
    entry.node = toNode(entry, index, state);
  }
}

function rewind(id: string, state: GeminiState): Recorded[] {
  const recorded = closeLast(state);
  // The client drops everything if it does not know the message.
  const dropped = state.path.splice(Math.max(0, placeOf(id, state)));
  for (const entry of dropped) state.ids.delete(entry.id);
  return recorded;
}

/** The client shortened or masked its history. */
function setMessages(messages: readonly unknown[], line: number, state: GeminiState): Recorded[] {
  if (messages.length === 0) return [];
  const recorded = closeLast(state);
  const before = new Map(state.path.map((entry) => [entry.id, entry]));
  state.path = [];
  state.ids.clear();
  let isSame = true;
  for (const each of messages.map(fieldsOf)) {
    const id = textIn(each, "id") ?? "";
    const known = before.get(id);
    isSame &&= known !== undefined && JSON.stringify(known.message) === JSON.stringify(each);
    recorded.push(...closeLast(state));
    push(known !== undefined && isSame ? known : { id, message: each, node: null, line }, state);
  }
  return recorded;
}

/** The last message is complete: its request, if it is a reply, and what it adds to the next one. */
function closeLast(state: GeminiState): Recorded[] {
  const entry = state.path.at(-1);
  if (entry === undefined || entry.node !== null) return [];
  const recorded = isReply(entry, state) ? toRequest(entry, state) : [];
  entry.node = toNode(entry, state.path.length - 1, state);
  return recorded;
}

/** Summaries that stand for a reply have neither counts nor model. */
function isReply({ id, message }: Entry, { counted }: GeminiState): boolean {
  if (message["type"] !== "gemini" || counted.has(id)) return false;
  return isObject(message["tokens"]) || typeof message["model"] === "string";
}

function toNode({ message }: Entry, place: number, { path, source }: GeminiState): TreeNode {
  const parent = path[place - 1]?.node ?? null;
  const isSent = message["type"] === "user" || message["type"] === "gemini";
  const answered = new Set(isSent ? answeredBefore(place, path) : []);
  const blocks = isSent ? draftEntry(withoutResults(message, answered), source.drafting) : [];
  return createNode(parent, "", blocks, lastMsOf(message) ?? parent?.lastMs ?? null);
}

/** Results stand in the reply before them; some versions also write them as a message. */
function answeredBefore(place: number, path: readonly Entry[]): string[] {
  const before = path[place - 1]?.message;
  return before === undefined ? [] : answeredCalls(before);
}

/** When it was complete: its own time, or that of its last tool. */
function lastMsOf(message: Fields): number | null {
  const times = [message, ...listIn(message, "toolCalls").map(fieldsOf)].flatMap(
    ({ timestamp }) => timeMsOf(timestamp) ?? [],
  );
  return times.length === 0 ? null : Math.max(...times);
}

function toRequest(entry: Entry, state: GeminiState): Recorded[] {
  const { id, message, line } = entry;
  const { file, run } = state.source;
  state.counted.add(id);
  if (!run.claimReply(`gemini-cli ${id}`)) {
    return [skip(file, line, "the reply was read from another file")];
  }
  const { opening, sessionId, way } = openOnce(state);
  const tokens = readTokens(message);
  const request = way({
    tip: state.path.at(-2)?.node ?? null,
    endMs: timeMsOf(message["timestamp"]),
    model: textIn(message, "model") ?? null,
    usage: tokens?.usage ?? null,
    settings: {},
  });
  const remainderTokens = tokens?.toolTokens ?? 0;
  return [...opening, { type: "request", sessionId, request: { ...request, remainderTokens } }];
}

function openOnce(state: GeminiState): {
  readonly opening: readonly Recorded[];
  readonly sessionId: string;
  readonly way: ThreadWay;
} {
  const { source, opened } = state;
  if (opened !== null) return { opening: [], sessionId: opened.id, way: opened.way };
  const wire = findProtocolCalled("gemini")?.name ?? null;
  const opening = openSession(source, state.session, {
    format: "gemini-cli",
    agent: "gemini-cli",
    wire,
  });
  const { id } = opening.session;
  const way = createThreadWay("", id, source.drafting);
  state.opened = { id, way };
  return { opening: [opening], sessionId: id, way };
}
