// Goal: outside of markers every byte is the client's. Method: random bodies of every protocol that takes markers get random
// markers; then both bodies are compared without any, by bytes and by what readers see.
import { describe, expect, test } from "vitest";
import { createRandom, type Random } from "../../../harness/random-message.ts";
import type { CachePlan } from "../../core/cache/cache-plan.ts";
import { resolveModel } from "../../core/models/resolve-model.ts";
import type { ForeignMarking } from "../../core/wire/foreign/foreign-reader.ts";
import { readRequest } from "../../core/wire/foreign/read-request.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import { protocols } from "../../core/wire/protocols.ts";
import { BodyBytes } from "../observe/body-bytes.ts";
import { scanBody } from "../observe/scan-body.ts";
import { spliceMarkers, type WantedMarker } from "./splice-markers.ts";

type Fields = Record<string, unknown>;

const marked = protocols.flatMap((protocol) => {
  const { marking } = protocol.foreign;
  return marking === undefined || marking.standsAlone === true
    ? []
    : [[protocol.name, protocol, marking] as const];
});

test("five protocols take markers within blocks", () => {
  expect(marked.map(([name]) => name)).toEqual([
    "anthropic-messages",
    "openai-chat",
    "openai-responses",
    "bedrock-invoke",
    "vertex-anthropic",
  ]);
});

describe.each(marked)("%s", (_name, protocol, marking) => {
  test("bodies with other markers are the client's to the byte, but for the markers", () => {
    let changed = 0;
    for (let seed = 1; seed <= 500; seed += 1) {
      const random = createRandom(seed);
      const text = randomBody(protocol, random);
      const before = readRequest(text, { protocol });
      const wanted: readonly WantedMarker[] = before.blocks
        .filter(({ mayCarryMarker }) => mayCarryMarker && random() < 0.3)
        .map(({ path }) => ({ path, lifetime: lifetimeOf(protocol, random) }));
      const spliced = splice(text, { protocol, marking, wanted, random }) ?? "null";
      if (spliced !== text) changed += 1;
      const after = readRequest(spliced, { protocol });
      expect({
        seed,
        bytes: withoutMarkers(spliced),
        keys: after.blocks.map(({ key }) => key),
        markers: after.markers.map(({ path, lifetime }) => [path, lifetime]),
      }).toEqual({
        seed,
        bytes: withoutMarkers(text),
        keys: before.blocks.map(({ key }) => key),
        markers: wanted.map(({ path, lifetime }) => [opened(path, text), lifetime]),
      });
    }
    expect(changed).toBeGreaterThan(250);
  });

  test("a marker that stays as it is leaves the body as it is", () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const random = createRandom(seed);
      const text = randomBody(protocol, random);
      const { markers } = readRequest(text, { protocol });
      expect(splice(text, { protocol, marking, wanted: markers, random: () => 1 })).toBe(text);
    }
  });
});

test("markers inside tool results go, and white space of the client stays", () => {
  const [, protocol, marking] = marked[0] ?? [];
  if (protocol === undefined || marking === undefined) throw new Error("no protocol");
  const text = `{ "system" : "s",\n "messages":[ {"role":"user", "content":[
    {"cache_control" : {"type":"ephemeral"} , "type":"tool_result", "content":[ {"type":"text","text":"é \\"cache_control\\":{}"
     , "cache_control":{"type":"ephemeral","ttl":"1h"} } ] } ] } ] , "model":"m"}`;
  const wanted = [{ path: "system.0", lifetime: "1h" }] as const;
  expect(splice(text, { protocol, marking, wanted, random: () => 1 })).toBe(
    `{ "system" : [{"type":"text","text":"s","cache_control":{"type":"ephemeral","ttl":"1h"}}],\n "messages":[ {"role":"user", "content":[
    {"type":"tool_result", "content":[ {"type":"text","text":"é \\"cache_control\\":{}" } ] } ] } ] , "model":"m"}`,
  );
});

test.each([
  ["a marker twice", '{"type":"text","text":"x","cache_control":{},"cache_control":{}}'],
  ["a marker that is none", '{"type":"text","text":"x","cache_control":null}'],
  ["two markers", '{"type":"text","text":"x","cache_control":{},"prompt_cache_breakpoint":{}}'],
])("%s is not touched: the place can be read in two ways", (_what, part) => {
  for (const [, protocol, marking] of marked) {
    if (protocol.foreign.growing?.member !== "messages") continue;
    const text = `{"model":"m","messages":[{"role":"user","content":[${part}]}]}`;
    const wanted = [{ path: "messages.0.content.0", lifetime: "30m" as const }];
    if (protocol.foreign.cacheDefaults.mode === "explicit") continue;
    expect(splice(text, { protocol, marking, wanted, random: () => 1 })).toBeNull();
  }
});

interface Splicing {
  readonly protocol: Protocol;
  readonly marking: ForeignMarking;
  readonly wanted: readonly WantedMarker[];
  readonly random: Random;
}

function splice(text: string, { protocol, marking, wanted, random }: Splicing): string | null {
  const bytes = Buffer.from(text);
  const cut = Math.floor(random() * bytes.length);
  const scanned = scanBody(new BodyBytes([bytes.subarray(0, cut), bytes.subarray(cut)], 1), null);
  if (scanned === null) throw new Error("the body cannot be scanned");
  const { markers } = readRequest(text, { protocol });
  const { facts } = resolveModel(
    protocol.foreign.cacheDefaults.mode === "explicit" ? "claude-sonnet-5-5" : "gpt-6.1-sol",
  );
  const own = { ...marking.words(planOf(wanted), facts), members: [] };
  const spliced = spliceMarkers(scanned, {
    present: markers,
    marksRequest: false,
    wanted,
    words: own,
    marking,
  });
  return spliced && Buffer.concat(spliced.pieces).toString();
}

function planOf(markers: readonly WantedMarker[]): CachePlan {
  return { markers, mode: "explicit", requestMarker: null, cacheKey: null } as unknown as CachePlan;
}

function lifetimeOf({ foreign }: Protocol, random: Random): WantedMarker["lifetime"] {
  if (foreign.cacheDefaults.mode === "implicit") return "30m";
  return random() < 0.5 ? "5m" : "1h";
}

/** A text in place of the messages becomes a message, so its path grows. */
function opened(path: string, text: string): string {
  const body: unknown = JSON.parse(text);
  const isText = typeof body === "object" && body !== null && "input" in body;
  return isText && typeof body.input === "string" && path === "input.0"
    ? "input.0.content.0"
    : path;
}

const string = String.raw`"(?:[^"\\]|\\.)*"`;
const name = String.raw`(?<!\\)"(?:cache_control|prompt_cache_breakpoint)":\{[^{}]*\}`;

/** By patterns on the text, which is written without white space. A list with one text is written as the text. */
function withoutMarkers(text: string): string {
  return text
    .replace(new RegExp(`,${name}|${name},`, "g"), "")
    .replace(new RegExp(`\\[\\{"type":"(?:input_)?text","text":(${string})\\}\\]`, "g"), "$1")
    .replace(new RegExp(`"input":\\[\\{"role":"user","content":(${string})\\}\\]`), '"input":$1');
}

function randomBody(protocol: Protocol, random: Random): string {
  const list = protocol.foreign.growing?.member ?? "";
  const isOwn = list === "input";
  const partType = isOwn ? "input_text" : "text";
  const mode = protocol.foreign.cacheDefaults.mode;
  const control =
    mode === "explicit"
      ? { cache_control: { type: "ephemeral", ...(random() < 0.5 ? { ttl: "1h" } : {}) } }
      : { prompt_cache_breakpoint: { mode: "explicit" } };
  const maybeMarked = (part: Fields): Fields => {
    if (random() > 0.3) return part;
    return random() < 0.5 ? { ...part, ...control } : { ...control, ...part };
  };
  const text = (): Fields => maybeMarked({ type: partType, text: words(random) });
  const content = (role: string): unknown => {
    const isPlain = random() < 0.4;
    if (isPlain) return words(random);
    // Providers refuse markers on what the model itself said, in one of the protocols.
    const part = (): Fields => {
      const { cache_control: _one, prompt_cache_breakpoint: _other, ...bare } = text();
      return role === "assistant" ? bare : text();
    };
    return times(1 + upTo(random, 3), part);
  };
  const message = (): Fields => {
    const role = random() < 0.5 ? "user" : "assistant";
    return { role, content: content(role), ...(random() < 0.1 ? { extra: { content: "[" } } : {}) };
  };
  const result = (): Fields => ({
    role: "user",
    content: [
      maybeMarked({
        type: "tool_result",
        tool_use_id: "t",
        content: random() < 0.5 ? words(random) : [text()],
      }),
    ],
  });
  const isAnthropic = mode === "explicit";
  const items = times(1 + upTo(random, 6), () =>
    isAnthropic && random() < 0.25 ? result() : message(),
  );
  const isText = isOwn && random() < 0.2;
  const tools = times(upTo(random, 3), (): Fields => {
    const tool = {
      name: words(random),
      input_schema: { cache_control: { type: "ephemeral" }, properties: {} },
    };
    return isAnthropic ? maybeMarked(tool) : { type: "function", ...tool };
  });
  const members: [string, unknown][] = [
    ["model", isAnthropic ? "claude-sonnet-5-5" : "gpt-6.1-sol"],
    [list, isText ? words(random) : items],
    ["tools", tools],
    ["max_tokens", 1e3],
  ];
  if (isAnthropic) {
    members.push(["system", random() < 0.4 ? words(random) : times(1 + upTo(random, 2), text)]);
  }
  return JSON.stringify(Object.fromEntries(members.toSorted(() => random() - 0.5)));
}

const parts: readonly string[] = [
  "plain",
  '"cache_control":{"type":"ephemeral"}',
  "back\\slash\\",
  "ünïcödé \u00a0\u0085",
  "😀",
  "\n\u0001",
  "{[]}",
  '","',
  "\ud800",
];

function words(random: Random): string {
  return times(1 + upTo(random, 4), () => parts[upTo(random, parts.length)] ?? "").join(" ");
}

function times<Each>(count: number, make: () => Each): readonly Each[] {
  return Array.from({ length: count }, make);
}

function upTo(random: Random, most: number): number {
  return Math.floor(random() * most);
}
