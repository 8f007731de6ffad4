// Goal: breakpoints of the client on GPT-5.6 and later. Method: requests through the surface.
import { describe, expect, test } from "vitest";
import {
  assistant,
  createKit,
  functionCall,
  functionOutput,
  marked,
  markedModel,
  sendChat,
  sendResponses,
  user,
  words,
  type Body,
} from "./test-kit.ts";

describe("from GPT-5.6 on, explicit breakpoints", () => {
  test("explicit mode without a breakpoint caches nothing", () => {
    const kit = createKit();
    const explicit = { prompt_cache_options: { mode: "explicit" } };
    const input = [user(words("a", 1500))];
    expect(sendResponses(kit, input, explicit)).toMatchObject({ read: 0, written: 0 });
    expect(sendResponses(kit, input, explicit)).toMatchObject({ read: 0, written: 0 });
  });

  test("going from implicit to explicit-only loses what was written implicitly", () => {
    const kit = createKit();
    const history = [user(words("a", 1500)), assistant("Fine."), user(words("b", 1500))];
    sendResponses(kit, history);
    const explicit = { prompt_cache_options: { mode: "explicit" } };
    const next = [...history, assistant("Fine."), marked("user", "And now?")];
    expect(sendResponses(kit, next, explicit)).toMatchObject({ read: 0 });
  });

  test("a breakpoint that stays where it was is found, one that moved on is not", () => {
    const kit = createKit();
    const explicit = { prompt_cache_options: { mode: "explicit" } };
    const first = marked("user", words("a", 1500));
    const one = sendResponses(kit, [first], explicit);
    const plain = user(words("a", 1500));
    const moved = sendResponses(kit, [plain, assistant("Fine."), marked("user", "More")], explicit);
    expect(moved.read).toBe(0);
    const kept = sendResponses(kit, [first, assistant("Fine."), marked("user", "Other")], explicit);
    expect(kept.read).toBe(one.written);
  });

  test("four breakpoints are written, the latest ones; in implicit mode three and the implicit one", () => {
    const five = ["a", "b", "c", "d", "e"].map((name) => marked("developer", words(name, 1500)));
    const input = [...five, user("one")];
    const explicit = { prompt_cache_options: { mode: "explicit" } };
    const kit = createKit();
    sendResponses(kit, input, explicit);
    const outcomes = (): Body => kit.records.at(-1)?.bill.markers.map(({ outcome }) => outcome);
    expect(outcomes()).toEqual(["over the limit", "written", "written", "written", "written"]);
    const implicit = createKit();
    sendResponses(implicit, input);
    expect(implicit.records[0]?.bill.markers.map(({ outcome }) => outcome)).toEqual([
      "over the limit",
      "over the limit",
      "written",
      "written",
      "written",
      "written",
    ]);
  });

  test("a breakpoint is no part of what is compared, and a string is one text part", () => {
    const kit = createKit();
    const text = words("a", 1500);
    const one = sendResponses(kit, [user(text)]);
    expect(sendResponses(kit, [marked("user", text), user("x")]).read).toBe(one.written);
    expect(sendResponses(kit, text).read).toBe(one.written);
  });

  test("tool outputs carry a breakpoint too", () => {
    const kit = createKit();
    const breakpoint = { mode: "explicit" };
    const output = [
      { type: "input_text", text: words("b", 100), prompt_cache_breakpoint: breakpoint },
      { type: "input_text", text: "tail" },
    ];
    const input = [user(words("a", 1500)), functionCall("call_1"), functionOutput("call_1", "")];
    const ended = [...input.slice(0, 2), { ...input[2], output }];
    const explicit = { prompt_cache_options: { mode: "explicit" } };
    const one = sendResponses(kit, ended, explicit);
    expect(one.written).toBeGreaterThan(1600);
    expect(sendResponses(kit, [...ended, user("Next")], explicit).read).toBe(one.written);
  });

  test("Chat takes breakpoints on text, images, files and audio", () => {
    const data = Buffer.from("x".repeat(9_000)).toString("base64");
    const parts: Body[] = [
      { type: "text", text: "Look" },
      { type: "image_url", image_url: { url: "https://example.com/a.png" } },
      { type: "file", file: { file_data: `data:application/pdf;base64,${data}` } },
      { type: "input_audio", input_audio: { data, format: "wav" } },
    ];
    for (const part of parts) {
      const kit = createKit();
      const end = { ...part, prompt_cache_breakpoint: { mode: "explicit" } };
      const content = [{ type: "text", text: words("a", 1500) }, end];
      const asked = (tail: string): Body => [
        { role: "user", content: [...content, { type: "text", text: tail }] },
      ];
      sendChat(kit, asked("one"));
      expect(sendChat(kit, asked("two")).read).toBeGreaterThan(1500);
    }
  });

  test("only content of the client carries a breakpoint", () => {
    const kit = createKit();
    const breakpoint = { prompt_cache_breakpoint: { mode: "explicit" } };
    const refused = (body: object): Body =>
      kit.post("/v1/responses", { model: markedModel, ...body });
    const onReply = { type: "output_text", text: "x", ...breakpoint };
    const reply = refused({ input: [{ role: "assistant", content: [onReply] }] });
    expect(reply.status).toBe(400);
    expect(reply.json.error).toEqual({
      message: "Unknown parameter: 'input[0].content[0].prompt_cache_breakpoint'.",
      type: "invalid_request_error",
      param: "input[0].content[0].prompt_cache_breakpoint",
      code: "unknown_parameter",
    });
    const tool = { type: "function", name: "f", parameters: {}, ...breakpoint };
    expect(refused({ input: "x", tools: [tool] }).json.error.param).toBe(
      "tools[0].prompt_cache_breakpoint",
    );
    const added = { type: "additional_tools", role: "developer", tools: [], ...breakpoint };
    expect(refused({ input: [added, user("x")] }).json.error.code).toBe("unknown_parameter");
  });

  test("models before 5.6 refuse breakpoints and options", () => {
    const kit = createKit();
    const options = kit.post("/v1/responses", {
      model: "gpt-5.5",
      input: "x",
      prompt_cache_options: { mode: "explicit" },
    });
    expect(options.json.error.message).toBe(
      "Unsupported parameter: 'prompt_cache_options' is not supported with this model.",
    );
    const breakpoint = kit.post("/v1/responses", { model: "gpt-4o", input: [marked("user", "x")] });
    expect(breakpoint.json.error.code).toBe("unsupported_parameter");
  });
});
