import { describe, expect, test } from "vitest";
import { deepFreeze } from "../../../models/catalogue.ts";
import { bodyText } from "../../encoded-request.ts";
import { openaiChat } from "./index.ts";
import {
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

const protocol = openaiChat;

const whole: OpenaiSetting = {
  protocol,
  tools: [readTool, { ...readTool, name: "Write", description: "Writes." }],
  system: ["Rules.", "Session."],
  history: [
    say("user", "Look:", {
      type: "image",
      source: { kind: "base64", mediaType: "image/png", data: "AA==" },
    }),
    say(
      "assistant",
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

const tools =
  '"tools":[' +
  '{"type":"function","function":{"name":"Read","description":"Reads a \\"file\\".","parameters":{"properties":{"path":{"type":"string"}},"type":"object"}}},' +
  '{"type":"function","function":{"name":"Write","description":"Writes.","parameters":{"properties":{"path":{"type":"string"}},"type":"object"}}}]';

describe("the body of a Chat Completions request", () => {
  test("has tools, system text, the conversation and the volatile text, in this order", () => {
    expect(bodyText(encodeOf(whole).pieces)).toBe(
      '{"model":"gpt-6.1-sol","max_completion_tokens":100,' +
        tools +
        ',"messages":[' +
        '{"role":"developer","content":[{"type":"text","text":"Rules."}]},' +
        '{"role":"developer","content":[{"type":"text","text":"Session."}]},' +
        '{"role":"user","content":[{"type":"text","text":"Look:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]},' +
        '{"role":"assistant","content":"I will read both.","tool_calls":[' +
        '{"id":"c1","type":"function","function":{"name":"Read","arguments":"{\\"path\\":\\"a\\", \\"n\\":1.0}"}},' +
        '{"id":"c2","type":"function","function":{"name":"Read","arguments":"{}"}}]},' +
        '{"role":"tool","tool_call_id":"c1","content":"one\\ntwo"},' +
        '{"role":"tool","tool_call_id":"c2","content":"three"},' +
        '{"role":"assistant","content":"Done."},' +
        '{"role":"user","content":[{"type":"text","text":"Thanks."}]},' +
        '{"role":"developer","content":[{"type":"text","text":"It is noon."}]}]}',
    );
  });

  test("carries markers inside the parts they stand on, and the bytes around them do not change", () => {
    // Blocks: 0, 1 tools; 2, 3 system; 4, 5 user; 6 assistant; 7, 8 tool results; 9 assistant; 10 user.
    const plan = planOf({ 3: "30m", 4: "30m", 5: "30m", 10: "30m" }, { mode: "explicit" });
    const marked = bodyText(encodeOf(whole, plan).pieces);
    const marker = ',"prompt_cache_breakpoint":{"mode":"explicit"}';
    expect(marked).toContain(`{"type":"text","text":"Session."${marker}}]},`);
    expect(marked).toContain(`{"type":"text","text":"Look:"${marker}},{"type":"image_url"`);
    expect(marked).toContain(`"image_url":{"url":"data:image/png;base64,AA=="}${marker}}]},`);
    expect(marked).toContain(`{"type":"text","text":"Thanks."${marker}}]},`);
    expect(marked).toContain(',"prompt_cache_options":{"mode":"explicit"}}');
    expect(
      marked.replaceAll(marker, "").replace(',"prompt_cache_options":{"mode":"explicit"}', ""),
    ).toBe(bodyText(encodeOf(whole).pieces));
  });

  test("is the same whenever it is made, and making it changes nothing", () => {
    const plan = deepFreeze(planOf({ 2: "30m" }, { mode: "implicit", cacheKey: "k" }));
    const frozen = { ...whole, history: deepFreeze([...(whole.history ?? [])]) };
    const first = encodeOf(frozen, plan);
    const second = encodeOf(frozen, plan);
    expect(bodyText(second.pieces)).toBe(bodyText(first.pieces));
    expect(first.byteLength).toBe(Buffer.byteLength(bodyText(first.pieces)));
    expect(first.toObject()).toEqual(JSON.parse(bodyText(first.pieces)));
    expect([first.headers, first.notes]).toEqual([{}, []]);
  });

  test("puts volatile text behind the system text where the layout says so", () => {
    const body = bodyText(
      encodeOf({ ...whole, tools: [], history: [], place: "system-tail" }).pieces,
    );
    expect(body).toBe(
      '{"model":"gpt-6.1-sol","max_completion_tokens":100,"messages":[' +
        '{"role":"developer","content":[{"type":"text","text":"Rules."}]},' +
        '{"role":"developer","content":[{"type":"text","text":"Session."}]},' +
        '{"role":"developer","content":[{"type":"text","text":"It is noon."}]},' +
        '{"role":"user","content":[{"type":"text","text":"Thanks."}]}]}',
    );
  });

  test.each([
    [
      { system: [], current: [], volatile: "v" },
      '[{"role":"developer","content":[{"type":"text","text":"v"}]}]',
    ],
    [
      { system: ["s"], current: [], volatile: "v" },
      '[{"role":"developer","content":[{"type":"text","text":"s"}]},{"role":"developer","content":[{"type":"text","text":"v"}]}]',
    ],
    [
      { system: [], volatile: "v", place: "system-tail" as const },
      '[{"role":"developer","content":[{"type":"text","text":"v"}]},{"role":"user","content":[{"type":"text","text":"Hi."}]}]',
    ],
    [{ system: [] }, '[{"role":"user","content":[{"type":"text","text":"Hi."}]}]'],
  ])("is one valid list whichever regions are empty: %j", (setting, messages) => {
    expect(bodyText(encodeOf({ protocol, ...setting }).pieces)).toBe(
      `{"model":"gpt-6.1-sol","max_completion_tokens":100,"messages":${messages}}`,
    );
  });

  test("asks for the usage of a stream", () => {
    expect(encodeOf({ protocol }, planOf(), { stream: true }).toObject()).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
    });
  });
});

/** The body without the messages, and the notes. */
function settingsOf(...call: Parameters<typeof encodeOf>): { settings: string; notes: unknown } {
  const { pieces, notes } = encodeOf(...call);
  const settings = bodyText(pieces).replace(/^.*"messages":\[.*?\]\}\]/, "");
  return { settings, notes };
}

describe("settings in Chat Completions", () => {
  test("effort, output schema, stop sequences, choice of tools and further members", () => {
    const { settings, notes } = settingsOf({ protocol, tools: [readTool] }, planOf(), {
      effort: "low",
      outputSchemaJson: '{"type":"object"}',
      stopSequences: ["END"],
      toolChoice: { name: "Read" },
      parallelToolUse: false,
      extraJson: { verbosity: '"low"' },
    });
    expect(settings).toBe(
      ',"reasoning_effort":"low"' +
        ',"response_format":{"type":"json_schema","json_schema":{"name":"reply","schema":{"type":"object"}}}' +
        ',"stop":["END"]' +
        ',"tool_choice":{"type":"function","function":{"name":"Read"}}' +
        ',"parallel_tool_calls":false,"verbosity":"low"}',
    );
    expect(notes).toEqual([]);
  });

  test.each([
    ["auto", '"auto"'],
    ["none", '"none"'],
    ["any", '"required"'],
  ] as const)("a choice of %s is %s", (toolChoice, word) => {
    const { settings } = settingsOf({ protocol, tools: [readTool] }, planOf(), { toolChoice });
    expect(settings).toBe(`,"tool_choice":${word}}`);
  });

  test("a schema that leaves nothing open is demanded strictly", () => {
    const closed =
      '{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}';
    const { settings } = settingsOf({ protocol }, planOf(), { outputSchemaJson: closed });
    expect(settings).toBe(
      `,"response_format":{"type":"json_schema","json_schema":{"name":"reply","schema":${closed},"strict":true}}}`,
    );
  });

  test("what the model or the protocol does not take is left out with a note", () => {
    const asked = {
      temperature: 0.5,
      thinkingJson: "{}",
      toolChoice: "any",
      parallelToolUse: true,
    } as const;
    expect(settingsOf({ protocol }, planOf(), asked)).toEqual({
      settings: "}",
      notes: [
        { kind: "option-ignored", detail: "temperature: gpt-6.1-sol takes none" },
        {
          kind: "option-ignored",
          detail: "thinking settings: Chat Completions has none; set an effort",
        },
        { kind: "option-ignored", detail: "tool_choice: there are no tools" },
        { kind: "option-ignored", detail: "parallel_tool_calls: there are no tools" },
      ],
    });
    expect(
      settingsOf({ protocol, model: plain }, planOf(), { temperature: 0.5, effort: "low" }),
    ).toEqual({
      settings: ',"temperature":0.5}',
      notes: [{ kind: "option-ignored", detail: "effort: gpt-4.1 does not think" }],
    });
  });

  test("a further member stands in for a setting, never for the content", () => {
    const extraJson = { reasoning_effort: '"max"', messages: "[]", "\ud800": '"\ud800"' };
    const { settings, notes } = settingsOf({ protocol }, planOf(), { effort: "low", extraJson });
    expect(settings).toBe(',"reasoning_effort":"max","\\ud800":"\\ud800"}');
    expect(notes).toEqual([
      {
        kind: "option-ignored",
        detail: "the further member messages would replace what the call says",
      },
    ]);
  });
});

describe("a cache plan in Chat Completions", () => {
  const setting = { protocol, system: ["Rules."] };

  test.each([
    [planOf({}, { cacheKey: "k", mode: "implicit" }), ',"prompt_cache_key":"k"}'],
    [planOf({}, { mode: "explicit" }), ',"prompt_cache_options":{"mode":"explicit"}}'],
    [planOf(), "}"],
  ])("a key and the mode are sent if they differ from the provider's default", (plan, settings) => {
    expect(settingsOf(setting, plan)).toEqual({ settings, notes: [] });
  });

  test("a lifetime this protocol cannot ask for becomes the default, with a note", () => {
    const { pieces, notes } = encodeOf(setting, planOf({ 0: "12h" }, { mode: "explicit" }));
    expect(bodyText(pieces)).toContain(
      '"text":"Rules.","prompt_cache_breakpoint":{"mode":"explicit"}}',
    );
    expect(bodyText(pieces)).toContain('"prompt_cache_options":{"mode":"explicit"}');
    expect(notes).toEqual([
      { kind: "option-ignored", detail: "a lifetime of 12h: this protocol offers 30m" },
    ]);
  });

  test("a model without markers gets none, and the plan's are counted", () => {
    const plan = planOf({ 0: "30m" }, { mode: "explicit", requestMarker: "1h" });
    expect(settingsOf({ ...setting, model: older }, plan)).toEqual({
      settings: "}",
      notes: [
        { kind: "markers-stripped", detail: "1 marker: gpt-5.5 takes no markers" },
        {
          kind: "markers-stripped",
          detail: "the marker of the request (1h): gpt-5.5 takes no markers",
        },
      ],
    });
  });

  test("a model that keeps steps for a day is asked to", () => {
    expect(settingsOf({ ...setting, model: older }, planOf({}, { requestMarker: "24h" }))).toEqual({
      settings: ',"prompt_cache_retention":"24h"}',
      notes: [],
    });
    expect(
      settingsOf({ ...setting, model: sol }, planOf({}, { requestMarker: "24h" })).notes,
    ).toEqual([{ kind: "option-ignored", detail: "a lifetime of 24h: this protocol offers 30m" }]);
  });

  test("a marker on what cannot carry one is our mistake", () => {
    const assistant = { protocol, history: [say("user", "a"), say("assistant", "b")] };
    expect(() => encodeOf(assistant, planOf({ 1: "30m" }))).toThrow("cannot carry one");
    expect(() => encodeOf(assistant, planOf({ 9: "30m" }))).toThrow("outside the assembly");
  });
});
