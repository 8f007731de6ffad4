// Reads ctx-trace/1: one session per file, each request as the messages it keeps and adds.
import { noUsage, type Usage } from "../../../core/message/usage.ts";
import { findProtocol } from "../../../core/wire/protocols.ts";
import {
  countIn,
  fieldsIn,
  fieldsOf,
  listIn,
  textIn,
  type Fields,
} from "../../../core/message/fields.ts";
import type { Recorded, RecordedMarker } from "../../recording.ts";
import {
  draftHidden,
  hiddenDraft,
  sizeReasoning,
  type BlockDraft,
  type FirstBill,
} from "../block-draft.ts";
import { openSession, skip, timeMsOf, type LineReader, type Source } from "../line-reader.ts";
import { createStubBudget, expandStubs, type StubBudget } from "./ctx-trace-stubs.ts";
import {
  draftMessage,
  draftSystem,
  draftTools,
  messagesForm,
  readSettings,
} from "../forms/messages-form.ts";
import { createThreadHistory, type ThreadHistory } from "../thread-history.ts";

export function isCtxTrace(line: Fields): boolean {
  return line["format"] === "ctx-trace/1" && line["kind"] === "session";
}

interface TraceState {
  readonly sessionId: string;
  readonly header: Fields;
  readonly history: ThreadHistory;
  readonly foundation: Foundation;
  /** Where each message ends, in blocks. */
  readonly ends: number[];
  /** Reasoning tokens of the last reply. A provider that seals reasoning bills that many when it is sent back. */
  reasoningTokens: number;
  readonly stubs: StubBudget;
}

interface Foundation {
  tools: readonly BlockDraft[];
  system: readonly BlockDraft[];
}

export function createCtxTraceReader(source: Source): LineReader {
  const { file } = source;
  let state: TraceState | undefined;
  return {
    read(line, number) {
      if (isCtxTrace(line)) {
        const opening = openSession(source, textIn(line, "id") ?? null, {
          format: "ctx-trace/1",
          agent: textIn(line, "agent") ?? null,
          wire: findProtocol(textIn(line, "wire") ?? "")?.name ?? null,
          isWhole: line["raw_api_log"] === true,
        });
        const sessionId = opening.session.id;
        state = {
          sessionId,
          header: line,
          history: createThreadHistory(),
          foundation: { tools: [], system: hiddenPrefix(line, sessionId, source) },
          ends: [],
          reasoningTokens: 0,
          stubs: createStubBudget(),
        };
        return [opening];
      }
      if (state === undefined) return [skip(file, number, "it stands before the header")];
      if (line["kind"] !== "request") return [skip(file, number, "its kind is not known")];
      return [readRequest(line, state, source) ?? skip(file, number, "it keeps too many messages")];
    },
    end: () => [],
  };
}

function hiddenPrefix(header: Fields, sessionId: string, { drafting }: Source): BlockDraft[] {
  const tokens = countIn(fieldsIn(header, "qa"), "hidden_prefix_tokens") ?? 0;
  if (header["prefix_known"] !== false || tokens === 0) return [];
  return [hiddenDraft(sessionId, tokens, "T1", drafting)];
}

function readRequest(line: Fields, state: TraceState, source: Source): Recorded | undefined {
  const { history, ends } = state;
  const keepMessages = countIn(line, "keep");
  if (keepMessages === undefined || keepMessages > ends.length) return undefined;
  const model = textIn(line, "model") ?? null;
  const headBefore = headLength(state);
  const keptMessages = history.blocks.slice(headBefore, ends[keepMessages - 1] ?? headBefore);
  const usage = usageOf(fieldsOf(line["usage"]));
  const messages = listIn(line, "append").map((message) => draftMessageOf(message, state, source));
  const grown = messages.flat();
  const isFirst = history.blocks.length === 0;
  const isNewHead = readFoundation(line, state, source) || isFirst;
  if (isFirst) hideTools(state, { usage, model, shown: grown }, source);
  const { tools, system } = state.foundation;
  const request = history.advance(
    isNewHead ? 0 : headBefore + keptMessages.length,
    isNewHead ? [...tools, ...system, ...keptMessages, ...grown] : grown,
    {
      thread: "",
      startMs: timeMsOf(line["t"]),
      endMs: timeMsOf(line["t_end"]),
      model,
      usage,
      settings: readSettings(fieldsIn(line, "params")),
    },
  );
  growEnds(state, { keepMessages, shift: headLength(state) - headBefore, messages });
  state.reasoningTokens = usage?.reasoningTokens ?? 0;
  const markers = readMarkers(line, state);
  return { type: "request", sessionId: state.sessionId, request: { ...request, markers } };
}

function headLength({ foundation }: TraceState): number {
  return foundation.tools.length + foundation.system.length;
}

/** Whether the request has its own tools or system text. */
function readFoundation(line: Fields, state: TraceState, { drafting }: Source): boolean {
  const { header, foundation } = state;
  const bringsTools = Array.isArray(line["tools"]);
  const bringsSystem = header["prefix_known"] !== false && (line["system"] ?? null) !== null;
  if (bringsTools) foundation.tools = draftTools(line["tools"], drafting);
  if (bringsSystem) foundation.system = draftSystem(line["system"], drafting);
  return bringsTools || bringsSystem;
}

/** If a recording has the system text but not the tools, the first bill shows their size. */
function hideTools(
  { header, sessionId, foundation }: TraceState,
  first: FirstBill,
  { drafting }: Source,
): void {
  const isUnseen = header["tools_known"] === false && header["raw_api_log"] !== true;
  if (!isUnseen || header["prefix_known"] === false || foundation.tools.length > 0) return;
  const shown = [...foundation.system, ...first.shown];
  foundation.tools = draftHidden(sessionId, "T0", { ...first, shown }, drafting);
}

function draftMessageOf(
  message: unknown,
  { header, reasoningTokens, stubs }: TraceState,
  { drafting }: Source,
): BlockDraft[] {
  const drafts = draftMessage(expandStubs(fieldsOf(message), stubs), drafting);
  const protocol = findProtocol(textIn(header, "wire") ?? "");
  return protocol?.foreign.showsThinking === true ? drafts : sizeReasoning(drafts, reasoningTokens);
}

function growEnds(
  state: TraceState,
  grown: {
    readonly keepMessages: number;
    /** How many blocks the head grew by. */
    readonly shift: number;
    readonly messages: readonly (readonly BlockDraft[])[];
  },
): void {
  const { ends } = state;
  ends.length = grown.keepMessages;
  if (grown.shift !== 0) for (const at of ends.keys()) ends[at] = (ends[at] ?? 0) + grown.shift;
  let end = ends.at(-1) ?? headLength(state);
  for (const message of grown.messages) {
    end += message.length;
    ends.push(end);
  }
}

/** Null if the recording has no wire data. */
function readMarkers(line: Fields, state: TraceState): RecordedMarker[] | null {
  if (state.header["raw_api_log"] !== true) return null;
  return listIn(line, "cache_control").flatMap((entry) => {
    const fields = fieldsOf(entry);
    const block = markedBlock(textIn(fields, "at") ?? "", state);
    if (block === null) return [];
    return [{ block, lifetime: fields["ttl"] === "1h" ? "1h" : "5m" } as const];
  });
}

/** Parses a path such as messages.12.content.0, system.1 or tools.3. */
function markedBlock(at: string, state: TraceState): number | null {
  const { foundation, ends, history } = state;
  const [, part = "", first, second] = /^(\w+)\.(\d+)(?:\.content\.(\d+))?/.exec(at) ?? [];
  const index = Number(first);
  const message = index === 0 ? headLength(state) : (ends[index - 1] ?? Infinity);
  const places = new Map([
    ["tools", index],
    ["system", foundation.tools.length + index],
    ["messages", message + Number(second ?? 0)],
  ]);
  const block = places.get(part) ?? Infinity;
  return block < history.blocks.length ? block : null;
}

/** Null if the prompt tokens are missing. In every wire format, uncached tokens do not include cached ones. */
function usageOf(fields: Fields): Usage | null {
  if (countIn(fields, "input_tokens") === undefined) return null;
  const { usage } = messagesForm.readUsage(fields);
  const generated = usage.outputTokens + usage.reasoningTokens;
  const stated = countIn(fields, "reasoning_output_tokens");
  const reasoningTokens =
    stated === undefined ? usage.reasoningTokens : Math.min(stated, generated);
  return { ...noUsage, ...usage, reasoningTokens, outputTokens: generated - reasoningTokens };
}
