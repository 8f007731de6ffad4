import { describe, expect, test } from "vitest";
import { deepFreeze } from "../../../models/catalogue.ts";
import { bodyText } from "../../encoded-request.ts";
import {
  asReply,
  assemblyOf,
  encodeOf,
  older,
  plain,
  planOf,
  readTool,
  say,
  sol,
  toolResult,
  toolUse,
  type OpenaiSetting,
} from "../test-kit.ts";
import { plainOptions } from "../../test-kit.ts";
import { openaiResponses } from "./index.ts";

const protocol = openaiResponses;

const reasoning =
  '{"id":"rs_1","type":"reasoning", "summary":[],"encrypted_content":"c2VhbGVk","n":1.0}';

const whole: OpenaiSetting = {
  protocol,
  tools: [readTool],
  system: ["Rules.", "Session."],
  history: [
    say("user", "Look:", {
      type: "image",
      source: { kind: "base64", mediaType: "image/png", data: "AA==" },
    }),
    say(
      "assistant",
      { type: "opaque", json: reasoning },
      "I will read both.",
      toolUse("c1", '{"path":"a", "n":1.0}'),
      toolUse("c2", "{}"),
    ),
    toolResult("c1", "one", "two"),
    toolResult("c2", "three"),
    say("assistant", "Done."),
  ],
  current: [say("user", "Thanks.")],
  volatile: "It is noon.",
};

const head =
  '{"model":"gpt-6.1-sol","max_output_tokens":100,"store":false,"include":["reasoning.encrypted_content"]';

describe("the body of a Responses request", () => {
  test("has tools, system text, the conversation and the volatile text, in this order", () => {
    expect(bodyText(encodeOf(whole).pieces)).toBe(
      head +
        ',"tools":[{"type":"function","name":"Read","description":"Reads a \\"file\\".","parameters":{"properties":{"path":{"type":"string"}},"type":"object"},"strict":false}]' +
        ',"input":[' +
        '{"type":"message","role":"developer","content":[{"type":"input_text","text":"Rules."}]},' +
        '{"type":"message","role":"developer","content":[{"type":"input_text","text":"Session."}]},' +
        '{"type":"message","role":"user","content":[{"type":"input_text","text":"Look:"},{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,AA=="}]},' +
        `${reasoning},` +
        '{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I will read both.","annotations":[]}]},' +
        '{"type":"function_call","call_id":"c1","name":"Read","arguments":"{\\"path\\":\\"a\\", \\"n\\":1.0}"},' +
        '{"type":"function_call","call_id":"c2","name":"Read","arguments":"{}"},' +
        '{"type":"function_call_output","call_id":"c1","output":"one\\ntwo"},' +
        '{"type":"function_call_output","call_id":"c2","output":"three"},' +
        '{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done.","annotations":[]}]},' +
        '{"type":"message","role":"user","content":[{"type":"input_text","text":"Thanks."}]},' +
        '{"type":"message","role":"developer","content":[{"type":"input_text","text":"It is noon."}]}]}',
    );
  });

  test("carries markers with their lifetimes inside the parts they stand on", () => {
    // Blocks: 0 tool; 1, 2 system; 3, 4 user; 5 to 8 assistant; 9, 10 results; 11 assistant; 12 user.
    const plan = planOf({ 2: "12h", 4: "30m", 12: "30m" }, { mode: "implicit" });
    const marked = bodyText(encodeOf(whole, plan).pieces);
    const short = ',"prompt_cache_breakpoint":{"mode":"explicit"}';
    const long = ',"prompt_cache_breakpoint":{"mode":"explicit","ttl":"12h"}';
    expect(marked).toContain(`{"type":"input_text","text":"Session."${long}}]},`);
    expect(marked).toContain(`"image_url":"data:image/png;base64,AA=="${short}}]},`);
    expect(marked).toContain(`{"type":"input_text","text":"Thanks."${short}}]},`);
    expect(marked.replaceAll(short, "").replaceAll(long, "")).toBe(
      bodyText(encodeOf(whole).pieces),
    );
  });

  test("is the same whenever it is made, and making it changes nothing", () => {
    const plan = deepFreeze(planOf({ 2: "30m" }, { mode: "explicit", cacheKey: "k" }));
    const frozen = { ...whole, history: deepFreeze([...(whole.history ?? [])]) };
    const first = encodeOf(frozen, plan);
    const second = encodeOf(frozen, plan);
    expect(bodyText(second.pieces)).toBe(bodyText(first.pieces));
    expect(first.toObject()).toEqual(JSON.parse(bodyText(first.pieces)));
    expect([first.headers, first.notes]).toEqual([{}, []]);
  });

  test("says what was left out of the conversation", () => {
    const thinking = { type: "thinking", text: "hm", signature: "s" } as const;
    const history = [say("user", "a"), say("assistant", thinking, thinking, "b")];
    expect(encodeOf({ protocol, history }).notes).toEqual([
      {
        kind: "content-left-out",
        detail: "2 blocks left out, the last: thinking: it is no output item of the Responses API",
      },
    ]);
  });
});

/** The body without the messages, and the notes. */
function settingsOf(...call: Parameters<typeof encodeOf>): { settings: string; notes: unknown } {
  const { pieces, notes } = encodeOf(...call);
  return { settings: bodyText(pieces).replace(/^.*"input":\[.*?\]\}\]/, ""), notes };
}

describe("settings in the Responses API", () => {
  test("effort, output schema, choice of tools and further members", () => {
    const { settings, notes } = settingsOf({ protocol, tools: [readTool] }, planOf(), {
      effort: "low",
      outputSchemaJson: '{"type":"object"}',
      toolChoice: { name: "Read" },
      parallelToolUse: true,
      extraJson: { service_tier: '"flex"' },
    });
    expect(settings).toBe(
      ',"reasoning":{"effort":"low"}' +
        ',"text":{"format":{"type":"json_schema","name":"reply","schema":{"type":"object"}}}' +
        ',"tool_choice":{"type":"function","name":"Read"}' +
        ',"parallel_tool_calls":true,"service_tier":"flex"}',
    );
    expect(notes).toEqual([]);
  });

  test("a model that does not think is not asked for its thinking", () => {
    const { pieces } = encodeOf({ protocol, model: plain }, planOf(), { stream: true });
    expect(bodyText(pieces)).toBe(
      '{"model":"gpt-4.1","max_output_tokens":100,"stream":true,"store":false,"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi."}]}]}',
    );
  });

  test("stop sequences are left out with a note", () => {
    expect(settingsOf({ protocol }, planOf(), { stopSequences: ["END"] })).toEqual({
      settings: "}",
      notes: [{ kind: "option-ignored", detail: "stop sequences: the Responses API takes none" }],
    });
  });

  test("a further member stands in for a setting", () => {
    const body = encodeOf({ protocol }, planOf(), { extraJson: { store: "true" } }).toObject();
    expect(body).toMatchObject({ store: true });
  });
});

describe("a cache plan in the Responses API", () => {
  const setting = { protocol, system: ["Rules."] };

  test.each([
    [planOf({}, { mode: "implicit" }), "}"],
    [planOf({}, { mode: "explicit" }), ',"prompt_cache_options":{"mode":"explicit"}}'],
    [
      planOf({}, { mode: "implicit", requestMarker: "12h" }),
      ',"prompt_cache_options":{"mode":"implicit","ttl":"12h"}}',
    ],
    [planOf({ 0: "12h" }, { mode: "implicit" }), "}"],
    [
      planOf({ 0: "12h" }, { mode: "explicit" }),
      ',"prompt_cache_options":{"mode":"explicit","ttl":"12h"}}',
    ],
    [planOf({ 0: "12h" }), "}"],
  ])("what the request asks for is not lengthened by one marker of it", (plan, settings) => {
    expect(settingsOf(setting, plan)).toEqual({ settings, notes: [] });
  });

  test("a short marker in a long request says so itself", () => {
    const plan = planOf({ 0: "12h", 1: "30m" }, { mode: "explicit" });
    const body = bodyText(encodeOf(setting, plan).pieces);
    expect(body).toContain('"Rules.","prompt_cache_breakpoint":{"mode":"explicit","ttl":"12h"}}');
    expect(body).toContain('"Hi.","prompt_cache_breakpoint":{"mode":"explicit","ttl":"30m"}}');
  });

  test("a model without markers gets none, and may keep steps for a day", () => {
    const plan = planOf({ 0: "30m" }, { mode: "explicit", requestMarker: "24h" });
    expect(settingsOf({ ...setting, model: older }, plan)).toEqual({
      settings: ',"prompt_cache_retention":"24h"}',
      notes: [{ kind: "markers-stripped", detail: "1 marker: gpt-5.5 takes no markers" }],
    });
  });
});

describe("a reply that is sent again", () => {
  const message =
    '{"id":"msg_1","type":"message","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"Reading.","annotations":[]}]}';
  const call =
    '{"id":"fc_1","type":"function_call","status":"completed","arguments":"{\\"path\\": 1.0}","call_id":"c1","name":"Read"}';
  const search = '{"id":"ws_1","type":"web_search_call","status":"completed"}';
  const body = `{"id":"resp_1","status":"completed","model":"gpt-6.1-sol","output":[${reasoning},${search},${message},${call}]}`;

  test("has every item that only this API understands to the byte, once", () => {
    const reply = asReply(protocol.decode(body));
    const history = [say("user", "Go."), reply.message, toolResult("c1", "ok")];
    const sent = bodyText(encodeOf({ protocol, history }).pieces);
    expect(sent).toContain(
      `,${reasoning},${search},${message},{"type":"function_call","call_id":"c1","name":"Read","arguments":"{\\"path\\": 1.0}"},{"type":"function_call_output"`,
    );
    expect(sent.split("Reading.")).toHaveLength(2);
  });
});

describe("caching without a reply", () => {
  test("is the same request with `prewarm` and without a stream", () => {
    const { prewarm } = protocol;
    const options = { ...plainOptions, stream: true };
    const call = {
      assembly: assemblyOf(whole),
      plan: planOf([], { mode: "implicit" }),
      model: sol,
      options,
    };
    const body = bodyText(encodeOf(whole, call.plan).pieces);
    expect(bodyText(prewarm?.encode(call).pieces ?? [])).toBe(
      body.replace(/\}$/, ',"prompt_cache_options":{"mode":"implicit","prewarm":true}}'),
    );
    expect(prewarm?.findObstacle(call)).toBe(null);
    const own = { ...options, extraJson: { prompt_cache_options: '{"mode":"explicit"}' } };
    expect(prewarm?.findObstacle({ ...call, options: own })).toBe(
      "cache options of the application's own",
    );
  });
});
