// Reads runs as LangChain's tracer and LangSmith export them: the calls of models among them, with prompts and usage.
import {
  countIn,
  fieldsIn,
  fieldsOf,
  isObject,
  listIn,
  listOf,
  textIn,
  type Fields,
} from "../../core/message/fields.ts";
import { findProtocolCalled } from "../../core/wire/foreign/recognise-protocol.ts";
import type { Recorded } from "../recording.ts";
import type { Drafting } from "./block-draft.ts";
import { skip, timeMsOf, type LineReader, type Source } from "./line-reader.ts";
import { draftOther } from "./forms/other-messages.ts";
import { toSessions, toUsage, type TracedCall } from "./traced-calls.ts";

export function isLangChain(line: Fields): boolean {
  return typeof line["run_type"] === "string" && typeof line["id"] === "string" && "inputs" in line;
}

export function createLangChainReader(source: Source): LineReader {
  const { file, drafting } = source;
  const calls: TracedCall[] = [];
  const readRun = (run: Fields, line: number): Recorded[] => {
    const inner = listIn(run, "child_runs").flatMap((each) => readRun(fieldsOf(each), line));
    if (run["run_type"] !== "llm") return inner;
    const call = readCall(run, line, drafting);
    if (typeof call === "string") return [...inner, skip(file, line, call)];
    calls.push(call);
    return inner;
  };
  return {
    read: (line, number) =>
      isLangChain(line) ? readRun(line, number) : [skip(file, number, "it is not a run")],
    end: () => toSessions(calls, "langchain", source),
  };
}

/** The call, or why it cannot be used. */
function readCall(run: Fields, line: number, drafting: Drafting): TracedCall | string {
  const extra = fieldsIn(run, "extra");
  const metadata = fieldsIn(extra, "metadata");
  const params = fieldsIn(extra, "invocation_params");
  const counts = usageIn(fieldsIn(run, "outputs"));
  if (counts === null) return run["error"] ? "the call failed" : "the call has no usage";
  const protocol = findProtocolCalled(textIn(metadata, "ls_provider") ?? "");
  const input = fieldsIn(counts, "input_token_details");
  const id = textIn(run, "id") ?? "";
  const trace = textIn(run, "trace_id") ?? id;
  const sessionNames = ["session_id", "thread_id", "conversation_id"];
  return {
    line,
    id,
    place: id,
    parent: textIn(run, "parent_run_id") ?? null,
    conversation: sessionNames.flatMap((name) => textIn(metadata, name) ?? [])[0] ?? trace,
    agent: textIn(metadata, "lc_agent_name") ?? textIn(metadata, "langgraph_node") ?? null,
    program: textIn(run, "session_name") ?? null,
    wire: protocol?.name ?? null,
    model: textIn(metadata, "ls_model_name") ?? textIn(params, "model") ?? null,
    startMs: timeOf(run["start_time"]),
    endMs: timeOf(run["end_time"]),
    usage: toUsage(
      {
        input: countIn(counts, "input_tokens") ?? 0,
        read: countIn(input, "cache_read") ?? 0,
        written: countIn(input, "cache_creation") ?? 0,
        writtenShort: countIn(input, "ephemeral_5m_input_tokens") ?? 0,
        writtenLong: countIn(input, "ephemeral_1h_input_tokens") ?? 0,
        output: countIn(counts, "output_tokens") ?? 0,
        reasoning: countIn(fieldsIn(counts, "output_token_details"), "reasoning") ?? 0,
      },
      protocol?.foreign.cacheDefaults.lifetime ?? "30m",
    ),
    prompt: promptOf(run, params, drafting),
  };
}

/** Usage stands in the reply's message or beside it. */
function usageIn(outputs: Fields): Fields | null {
  const generation = fieldsOf(listOf(listIn(outputs, "generations")[0])[0]);
  const message = fieldsIn(generation, "message");
  const places = [fieldsIn(message, "kwargs"), fieldsIn(message, "data"), message, outputs];
  const found = places.map((place) => place["usage_metadata"]).find(isObject);
  return found !== undefined && countIn(found, "input_tokens") !== undefined ? found : null;
}

/** A tracer keeps a list of prompts for each run, of which a chat has one. */
function promptOf(run: Fields, params: Fields, drafting: Drafting): TracedCall["prompt"] {
  const given = listIn(fieldsIn(run, "inputs"), "messages");
  const messages = Array.isArray(given[0]) ? listOf(given[0]) : given;
  if (messages.length === 0) return null;
  const tools = listIn(params, "tools");
  return draftOther({ messages, ...(tools.length === 0 ? {} : { tools }) }, drafting);
}

/** A date without a zone is in UTC. */
function timeOf(value: unknown): number | null {
  if (typeof value === "number" && Number.isFinite(value)) return Math.round(value);
  if (typeof value !== "string") return null;
  return timeMsOf(/(?:Z|[+-]\d\d:?\d\d)$/.test(value) ? value : `${value}Z`);
}
