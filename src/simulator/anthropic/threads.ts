// Message threads: the provider keeps a conversation for a few minutes, and a request sends only what is new.
import { compactJson, jsonObject, readJson, type Json, type JsonObject } from "../json-source.ts";
import { extraInput, invalid, invented, Refusal } from "./refusal.ts";
import { messageText, type Outcome } from "./reply/write-message.ts";
import { fields, find, type Place } from "./request/read-fields.ts";

export interface ThreadStore {
  /** The whole conversation that a body stands for; a body without a thread stands for itself. */
  join(body: Place, call: ThreadCall): Joined;
}

export interface ThreadCall {
  readonly workspace: string;
  readonly betas: ReadonlySet<string>;
  readonly nowMs: number;
}

export interface Joined {
  readonly body: Place;
  /** The next request may go on from this reply. */
  answered(outcome: Outcome): void;
}

/** A conversation with its latest reply. */
interface Thread {
  readonly body: JsonObject;
  readonly messages: readonly Json[];
  readonly expiresMs: number;
  isContinued: boolean;
}

const threadsBeta = "message-threads-2026-08-12";
const keptMs = 5 * 60_000;
const threadsMax = 1000;

export function createThreadStore(): ThreadStore {
  const threads = new Map<string, Thread>();
  const keep = (key: string, thread: Thread): void => {
    threads.set(key, thread);
    for (const oldest of threads.keys()) {
      if (threads.size <= threadsMax) break;
      threads.delete(oldest);
    }
  };
  return {
    join: (body, { workspace, betas, nowMs }) => {
      const thread = fields.findPlace(body, "thread");
      if (thread === null) return { body, answered: () => {} };
      if (!betas.has(threadsBeta)) throw extraInput("thread");
      refuseUnsupported(body);
      const before = readBefore(thread, (id) => threads.get(`${workspace}\n${id}`), nowMs);
      const whole = before === null ? withoutThread(body) : goOn(before, body);
      return {
        body: whole,
        answered: (outcome) => {
          if (before !== null) before.isContinued = true;
          keep(`${workspace}\n${outcome.id}`, {
            body: whole.object,
            messages: [...messagesOf(whole.object), replyOf(outcome)],
            expiresMs: nowMs + keptMs,
            isContinued: false,
          });
        },
      };
    },
  };
}

/** Null for a thread that begins. */
function readBefore(
  thread: Place,
  findThread: (messageId: string) => Thread | undefined,
  nowMs: number,
): Thread | null {
  if (fields.oneOfAt(thread, "type", ["create", "continue"]) === "create") return null;
  const before = findThread(fields.textAt(thread, "previous_message_id"));
  if (before === undefined || before.expiresMs < nowMs) {
    throw new Refusal("not_found_error", notFound, { error_code: "thread_not_found" });
  }
  if (before.isContinued) {
    throw invented("thread: the response was already continued", {
      error_code: "thread_already_continued",
    });
  }
  return before;
}

const notFound =
  'No thread state was found for the requested `previous_message_id`. Replay the full conversation with thread: {"type": "create"} to start a new Thread.';

function refuseUnsupported(body: Place): void {
  if (find(body, "context_management") === null) return;
  throw invalid("thread: this request is not supported on a thread", {
    error_code: "thread_unsupported_request",
    unsupported: ["context_management"],
  });
}

/** What stays the same on a thread, and need not be sent again. */
const keptFields = ["model", "system", "tools"] as const;

function goOn({ body: stored, messages }: Thread, body: Place): Place {
  for (const name of keptFields) {
    const [sent, kept] = [body.object.fields.get(name), stored.fields.get(name)];
    const isEqual =
      sent === undefined || (kept !== undefined && compactJson(sent) === compactJson(kept));
    if (!isEqual) {
      throw invented(`thread: ${name} differs from the thread's`, {
        error_code: "thread_fingerprint_mismatch",
      });
    }
  }
  const kept = keptFields.flatMap((name) => {
    const value = stored.fields.get(name);
    return value === undefined ? [] : ([[name, value]] as const);
  });
  const items = [...messages, ...messagesOf(body.object)];
  const whole = new Map([...withoutThread(body).object.fields, ...kept]);
  return { ...body, object: jsonObject(whole.set("messages", { kind: "list", items })) };
}

function withoutThread(body: Place): Place {
  const left = [...body.object.fields].filter(([name]) => name !== "thread");
  return { ...body, object: jsonObject(left) };
}

function messagesOf(body: JsonObject): readonly Json[] {
  const messages = body.fields.get("messages");
  return messages?.kind === "list" ? messages.items : [];
}

function replyOf(outcome: Outcome): Json {
  const message = readJson(messageText(outcome));
  const content = message.kind === "object" ? message.fields.get("content") : undefined;
  return jsonObject([
    ["role", { kind: "string", text: "assistant" }],
    ["content", content ?? { kind: "list", items: [] }],
  ]);
}
