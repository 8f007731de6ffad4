// Goal: reading what is new gives what reading everything gives. Method: random conversations whose bodies change as clients
// change them, and as no client does; each is read after the one before it, and as a whole.
import { describe, expect, test } from "vitest";
import { createRandom, type Random } from "../../../harness/random-message.ts";
import { readRequest } from "../../core/wire/foreign/read-request.ts";
import { protocols } from "../../core/wire/protocols.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import { BodyBytes } from "./body-bytes.ts";
import { readBody, type ReadDocument } from "./read-body.ts";

type Body = Record<string, unknown>;
type Item = Record<string, unknown>;

const growing = protocols.filter(({ foreign }) => foreign.growing !== undefined);

test("a protocol that is not read piece by piece is read whole, with the same result", () => {
  const [{ foreign, ...rest }] = protocols;
  const { growing: _growing, ...plain } = foreign;
  const protocol: Protocol = { ...rest, foreign: plain };
  const text = JSON.stringify({ model: "m", messages: [plainItem(protocols[0], 0)] });
  const first = read(protocol, text, []);
  const second = read(protocol, text, first === null ? [] : [first]);
  expect(second?.request).toEqual(readRequest(text, { protocol }));
  expect(second?.parsedBytes).toBe(text.length);
});

describe.each(growing.map((protocol) => [protocol.name, protocol] as const))(
  "%s",
  (_name, protocol) => {
    test("a body that is read after earlier ones equals the whole body, whatever changed", () => {
      for (let seed = 1; seed <= 120; seed += 1) {
        const random = createRandom(seed);
        let body = firstBody(protocol, random);
        let documents: readonly ReadDocument[] = [];
        for (let call = 0; call < 12; call += 1) {
          const text = spelled(body, random);
          const document = read(protocol, text, documents);
          const whole = readRequest(text, { protocol });
          expect(document?.request, `seed ${seed}, call ${call}: ${text}`).toEqual(whole);
          if (document !== null) documents = [document, ...documents].slice(0, 3);
          body = changed(body, protocol, random);
        }
      }
    });

    test("the bytes that are parsed follow what is new", () => {
      const member = memberOf(protocol);
      const items = Array.from({ length: 1000 }, (_, index) => plainItem(protocol, index));
      const rest = {
        model: "m",
        tools: Array.from({ length: 20 }, (_, index) => plainTool(index)),
      };
      const texts = [1000, 1002, 1004].map((count) => {
        const all = [...items, ...items].slice(0, count);
        return JSON.stringify({ ...rest, [member]: all, stream: true });
      });
      let documents: readonly ReadDocument[] = [];
      const parsed = texts.map((text) => {
        const document = read(protocol, text, documents);
        documents = document === null ? [] : [document];
        return document?.parsedBytes ?? 0;
      });
      const [whole = 0] = texts.map(({ length }) => length);
      expect(parsed[0]).toBeGreaterThan(whole * 0.98);
      expect(parsed[1]).toBe(JSON.stringify(items.slice(0, 2)).length - "[,]".length);
      expect(parsed[2]).toBe(JSON.stringify(items.slice(2, 4)).length - "[,]".length);
    });
  },
);

test("a tool that comes in between the others is the only one that is parsed", () => {
  const [protocol] = protocols;
  const tools = Array.from({ length: 40 }, (_, index) => plainTool(index));
  const body = { model: "m", messages: [plainItem(protocol, 0)], tools };
  const first = read(protocol, JSON.stringify(body), []);
  const added = { ...plainTool(99), defer_loading: true };
  const text = JSON.stringify({ ...body, tools: tools.toSpliced(12, 0, added) });
  const second = read(protocol, text, first === null ? [] : [first]);
  expect(second?.parsedBytes).toBe(JSON.stringify(added).length);
  expect(second?.request).toEqual(readRequest(text, { protocol }));
});

test.each([
  ["no JSON", "{"],
  ["a comma too many", '{"messages":[],}'],
  ["a comma too few", '{"model":"m" "messages":[]}'],
  ["a broken item", '{"messages":[{"role":user}]}'],
  ["something behind the end", '{"messages":[]} x'],
])("%s is an error, also after a body that was right", (_what, text) => {
  const [protocol] = protocols;
  const first = read(protocol, '{"messages":[{"role":"user","content":"x"}]}', []);
  expect(() => read(protocol, text, first === null ? [] : [first])).toThrow(/is not JSON/);
});

test("a member that is there twice counts as its last value", () => {
  const [protocol] = protocols;
  const text = '{"messages":[],"messages":[{"role":"user","content":"x"}]}';
  expect(read(protocol, text, [])?.request).toEqual(readRequest(text, { protocol }));
});

function read(
  protocol: Protocol,
  text: string,
  before: readonly ReadDocument[],
): ReadDocument | null {
  const address = { path: null, headers: {} };
  return readBody({
    bytes: inPieces(text),
    prints: [],
    address,
    rows: [protocol],
    before,
    isVendor: never,
  });
}

function never(): boolean {
  return false;
}

/** In two pieces, cut anywhere. */
function inPieces(text: string): BodyBytes {
  const bytes = Buffer.from(text);
  const cut = (bytes.length * 7) % 97;
  return new BodyBytes([bytes.subarray(0, cut), bytes.subarray(cut)], 1);
}

function memberOf(protocol: Protocol): string {
  return protocol.foreign.growing?.member ?? "";
}

function plainItem(protocol: Protocol, index: number): Item {
  const role = index % 2 === 0 ? "user" : "assistant";
  const type = memberOf(protocol) === "input" ? { type: "message" } : {};
  return { ...type, role, content: `${index} ${"text ".repeat(20)}` };
}

function plainTool(index: number): Item {
  return { name: `tool_${index}`, description: "x".repeat(50), input_schema: { type: "object" } };
}

function firstBody(protocol: Protocol, random: Random): Body {
  const count = 1 + upTo(random, 4);
  return {
    model: pick(random, ["claude-sonnet-4-6", "claude-haiku-4-5", "gpt-6.1-sol", "unknown"]),
    max_tokens: 100,
    ...(random() < 0.7 ? { tools: listOf(random, 3, () => tool(random)) } : {}),
    ...(random() < 0.5 ? { system: system(random) } : {}),
    ...(random() < 0.4 ? { instructions: words(random) } : {}),
    [memberOf(protocol)]: listOf(random, count, () => item(random)),
    ...(random() < 0.3 ? { metadata: { user_id: words(random) } } : {}),
  };
}

/** One or two changes: mostly what agents do, now and then what none does. */
function changed(body: Body, protocol: Protocol, random: Random): Body {
  const member = memberOf(protocol);
  const given = body[member];
  const items: readonly unknown[] = Array.isArray(given) ? given : [];
  const at = upTo(random, items.length);
  const withItems = (list: readonly unknown[]): Body => ({ ...body, [member]: list });
  const roll = random();
  if (roll < 0.45)
    return withItems([...items, ...listOf(random, 1 + upTo(random, 3), () => item(random))]);
  if (roll < 0.6) return withItems(moveMarkers([...items, item(random)], random));
  if (roll < 0.66) return withItems(items.toSpliced(at, 1, item(random)));
  if (roll < 0.72) return withItems(items.toSpliced(at, 1));
  if (roll < 0.76) return withItems(items.toSpliced(at, 0, item(random)));
  if (roll < 0.8) return withItems(items.slice(0, at));
  if (roll < 0.84) return { ...body, tools: listOf(random, upTo(random, 4), () => tool(random)) };
  if (roll < 0.88) return { ...body, system: system(random) };
  if (roll < 0.92) return { ...body, max_tokens: upTo(random, 2000), thread: { type: "continue" } };
  if (roll < 0.95) return { ...body, model: pick(random, ["claude-haiku-4-5", "gpt-5.5"]) };
  if (roll < 0.97) return withItems([]);
  return Object.fromEntries(Object.entries(body).toReversed());
}

/** Clients mark the last item, and flip between a text and a list when they do. */
function moveMarkers(items: readonly unknown[], random: Random): readonly unknown[] {
  return items.map((each, index) => {
    if (typeof each !== "object" || each === null || !("content" in each)) return each;
    const { content } = each;
    if (typeof content === "string" && index === items.length - 1) {
      return { ...each, content: [{ type: "text", text: content, ...cacheControl }] };
    }
    const [part] = Array.isArray(content) ? (content as readonly unknown[]) : [];
    const text =
      typeof part === "object" && part !== null && "text" in part ? part.text : undefined;
    return typeof text === "string" && random() < 0.7 ? { ...each, content: text } : each;
  });
}

const cacheControl = { cache_control: { type: "ephemeral" } };

function item(random: Random): Item {
  const roll = random();
  const text = words(random);
  if (roll < 0.25) return { role: "user", content: text };
  if (roll < 0.35)
    return { role: "user", content: [{ type: "text", text, ...maybe(random, cacheControl) }] };
  if (roll < 0.5) return { role: "assistant", content: text };
  if (roll < 0.56)
    return {
      role: "assistant",
      content: [{ type: "tool_use", id: "t", name: "Read", input: { path: text, n: 1.0 } }],
    };
  if (roll < 0.62)
    return { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: text }] };
  if (roll < 0.68)
    return {
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: "t",
          content: [{ type: "tool_reference", tool_name: "tool a" }],
        },
      ],
    };
  if (roll < 0.74)
    return { role: "system", content: text, ...maybe(random, { clear_at: "next_user_message" }) };
  if (roll < 0.78) return { role: "developer", content: text };
  if (roll < 0.82)
    return {
      role: "user",
      content: [
        { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
      ],
    };
  if (roll < 0.86) return { type: "function_call", call_id: "c", name: "run", arguments: "{}" };
  if (roll < 0.9) return { type: "function_call_output", call_id: "c", output: text };
  if (roll < 0.94)
    return {
      role: "assistant",
      content: [{ type: "thinking", thinking: text, signature: "s" }],
      output_config: { effort: "low" },
    };
  if (roll < 0.97) return { type: "additional_tools", tools: [tool(random)] };
  return { role: "tool", tool_call_id: "c", content: text, count: upTo(random, 300) };
}

function tool(random: Random): Item {
  const name = pick(random, ["tool a", "tool b", "web_search"]);
  const description = words(random);
  return {
    name,
    description,
    input_schema: { type: "object", properties: { b: 1, a: [true, null] } },
    ...maybe(random, cacheControl),
    ...maybe(random, { defer_loading: true }),
  };
}

function system(random: Random): unknown {
  if (random() < 0.4) return words(random);
  return listOf(random, 1 + upTo(random, 2), () => ({
    type: "text",
    text: words(random),
    ...maybe(random, cacheControl),
  }));
}

function words(random: Random): string {
  const parts = [
    "plain",
    'a "quote"',
    "back\\slash\\",
    "ünïcödé",
    "😀",
    "line\nbreak",
    "\u0001",
    "",
    "{[]}",
    '","',
    "\ud800",
  ];
  return listOf(random, 1 + upTo(random, 4), () => pick(random, parts)).join(" ");
}

/** With white space, and with the keys of the whole in another order. */
function spelled(body: Body, random: Random): string {
  const entries = Object.entries(body);
  const ordered = random() < 0.15 ? entries.toSorted(() => random() - 0.5) : entries;
  return JSON.stringify(Object.fromEntries(ordered), null, random() < 0.08 ? 2 : undefined);
}

function maybe(random: Random, member: object): object {
  return random() < 0.3 ? member : {};
}

function listOf<Each>(_random: Random, count: number, make: () => Each): readonly Each[] {
  return Array.from({ length: count }, make);
}

function upTo(random: Random, most: number): number {
  return Math.floor(random() * most);
}

function pick<Each>(random: Random, from: readonly Each[]): Each {
  const found = from[upTo(random, from.length)];
  if (found === undefined) throw new Error("nothing to pick from");
  return found;
}
