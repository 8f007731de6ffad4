// A protocol of our own: the model is in the path, answers stream as lines, requests are signed, nothing is marked.
import {
  nothingWritten,
  type Spelled,
  type SpelledBlock,
  type Spelling,
  type Written,
} from "../../src/core/assembly/spelling.ts";
import {
  countIn,
  fieldsIn,
  parseFields,
  textIn,
  type Fields,
} from "../../src/core/message/fields.ts";
import { listOf, memberOf, textOf } from "../../src/core/message/json-tree.ts";
import type { Message } from "../../src/core/message/message.ts";
import { noUsage } from "../../src/core/message/usage.ts";
import { toRequest } from "../../src/core/wire/encoded-request.ts";
import type { BlockDraft } from "../../src/core/wire/foreign/foreign-request.ts";
import type { ForeignReader } from "../../src/core/wire/foreign/foreign-reader.ts";
import type { Protocol, StreamDecoder } from "../../src/core/wire/protocol.ts";
import type { Reply, ReportedUsage } from "../../src/core/wire/reply.ts";
import { splice } from "../../src/core/wire/splice.ts";

/** `{"who":"user","say":"Hello."}`, and for system text `"Be brief."`. */
const spelling: Spelling = {
  tools: () => [],
  system: (blocks) =>
    blocks.map(({ text }, index) => spelled(JSON.stringify(text), index > 0, "system")),
  message: spellMessage,
  volatile: (text, written) => spellMessage(says("user", text), written),
};

function spellMessage({ role, content }: Message, written: Written): Spelled {
  const text = content.map((block) => (block.type === "text" ? block.text : "")).join("");
  const who = role === "assistant" ? "assistant" : "user";
  const json = `{"who":"${who}","say":${JSON.stringify(text)}}`;
  const blocks = [{ ...spelled(json, written.blockCount > 0, who), content }];
  const blockCount = written.blockCount + 1;
  return { blocks, written: { ...nothingWritten, lastRole: role, blockCount }, leftOut: [] };
}

function spelled(json: string, isBehind: boolean, role: SpelledBlock["role"]): SpelledBlock {
  return {
    json: isBehind ? `,${json}` : json,
    markerFromEnd: null,
    kind: role === "system" ? "system text" : "text",
    role,
    endsMessage: true,
    content: [],
  };
}

const foreign: ForeignReader = {
  needs: "talk",
  isSentTo: ({ path }) => modelIn(path) !== "",
  fits: (body) => memberOf(body, "talk")?.kind === "list",
  hasSigns: () => true,
  usualModels: /^parley-/,
  otherNames: /parley/,
  modelOf: ({ path }) => modelIn(path),
  outputLimits: [],
  read: (body) => ({
    drafts: listOf(body, "talk").map((said, index): BlockDraft => {
      const role = textOf(said, "who") === "assistant" ? "assistant" : "user";
      const path = `talk.${index}`;
      const text = textOf(said, "say") ?? "";
      const fixed = { tier: "T3", kind: "text", endsMessage: true, mayCarryMarker: false } as const;
      return { ...fixed, path, section: `${role} line ${index}`, role, text, markers: [] };
    }),
    requestMarker: null,
    strayMarkers: [],
    mode: "implicit",
    ownLifetime: null,
    settings: {},
    keepsThinking: true,
    continues: false,
  }),
  cacheDefaults: { mode: "implicit", lifetime: "30m" },
  showsThinking: true,
};

function modelIn(path: string | null): string {
  return /\/models\/([\w.-]+):\w+/.exec(path ?? "")?.[1] ?? "";
}

interface Heard {
  readonly text: string;
  readonly last: Fields | null;
}

const stream: StreamDecoder<Heard> = {
  start: { text: "", last: null },
  step: ({ text, last }, { data }) => {
    const line = parseFields(data) ?? {};
    const more = textIn(line, "say") ?? "";
    const heard = { text: text + more, last: "tokens" in line ? line : last };
    return [heard, more === "" ? [] : [{ type: "text", text: more }]];
  },
  finish: ({ text, last }) => ({
    ...toReply(text, last ?? {}),
    status: last === null ? "partial" : "complete",
  }),
};

export const parley: Protocol = {
  name: "parley",
  title: "Parley",
  access: {
    kind: "parley",
    baseUrl: "https://api.parley.test",
    key: { name: "x-parley-key", prefix: "Key " },
    vendor: { name: "parley", keyVariable: "PARLEY_KEY", urlVariable: "PARLEY_URL" },
  },
  path: ({ model, stream: isStream }) =>
    `/v1/models/${model}:${isStream ? "stream?form=lines" : "talk"}`,
  writesMarkers: false,
  spelling: () => spelling,
  encode: ({ assembly: { thread, volatile }, model, options }) => {
    const rules = splice(thread.foundation.systemBytes, []);
    const talk = [...splice(thread.bytes, []), ...splice(volatile.bytes, [])];
    return toRequest({
      path: parley.path({ model: options.modelName ?? model.id, stream: options.stream }),
      parts: ['{"rules":[', ...rules, '],"talk":[', ...talk, "]}"],
    });
  },
  decode: (body) => {
    const answer = parseFields(body);
    if (answer === undefined) return { kind: "malformed", detail: "no parley" };
    return toReply(textIn(answer, "say") ?? "", answer);
  },
  stream,
  readFailure: ({ status, body }) => ({ kind: "invalid-request", detail: `${status} ${body}` }),
  encodeRefusal: ({ message }) => ({ status: 403, headers: {}, body: message }),
  findUsage: ({ tokens }) => tokens,
  readUsage: (tokens) => readUsage({ tokens }),
  foreign,
  effects: "parley",
  counting: {
    name: "parley_api",
    isAskedAt: (path) => path.includes(":count"),
    encode: (request) => ({ ...request, path: request.path.replace(/:.*$/, ":count") }),
    decode: (body) => countIn(parseFields(body) ?? {}, "asked") ?? null,
  },
};

function toReply(text: string, answer: Fields): Reply {
  return {
    kind: "reply",
    id: "",
    model: "",
    message: says("assistant", text),
    stopReason: "end_turn",
    usage: readUsage(answer),
    status: "complete",
    transformations: [],
  };
}

function readUsage(answer: Fields): ReportedUsage {
  const tokens = fieldsIn(answer, "tokens");
  const cacheReadTokens = countIn(tokens, "kept") ?? 0;
  const uncachedTokens = (countIn(tokens, "asked") ?? 0) - cacheReadTokens;
  const outputTokens = countIn(tokens, "said") ?? 0;
  const usage = { ...noUsage, cacheReadTokens, uncachedTokens, outputTokens };
  return { usage, isReported: "tokens" in answer, reportsCache: true, warnings: [] };
}

function says(role: Message["role"], text: string): Message {
  return { role, content: [{ type: "text", text }] };
}
