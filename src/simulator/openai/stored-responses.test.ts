// Goal: stored responses stay within their limits. Method: requests through a surface with small limits.
import { describe, expect, test } from "vitest";
import { createKit, user, words, type Body, type Kit } from "./test-kit.ts";

const path = "/v1/responses";
const model = "gpt-6.1-sol";

const image = (characters: number): Body => ({
  role: "user",
  content: [
    { type: "input_image", image_url: `data:image/png;base64,${"A".repeat(characters)}` },
    { type: "input_text", text: "What is this?" },
  ],
});

function send(kit: Kit, input: Body, more: object = {}): string {
  const reply = kit.post(path, { model, input, ...more });
  expect(reply.status).toBe(200);
  return reply.json.id;
}

/** Asks without storing the response. */
function isRemembered(kit: Kit, id: string): boolean {
  const asked = { model, input: "Go on.", previous_response_id: id };
  return kit.post(path, { ...asked, store: false }).status === 200;
}

describe("remembered responses", () => {
  test("many requests with a large image do not fill the memory: the oldest are forgotten", () => {
    const kit = createKit({ responseCharactersMax: 1_000_000 });
    const ids = Array.from({ length: 6 }, () => send(kit, [image(300_000)]));
    const lost = ids.filter((id) => !isRemembered(kit, id));
    expect(lost).toEqual(ids.slice(0, 3));
  });

  test("long text and long tool outputs count by their length too", () => {
    const kit = createKit({ responseCharactersMax: 300_000 });
    const old = send(kit, [user("Hi")]);
    send(kit, [user(words("a", 15_000))]);
    expect(isRemembered(kit, old)).toBe(true);
    const call = { type: "function_call", call_id: "c", name: "read", arguments: "{}" };
    const output = { type: "function_call_output", call_id: "c", output: words("b", 15_000) };
    send(kit, [user("Read."), call, output]);
    expect(isRemembered(kit, old)).toBe(false);
  });

  test("a conversation that goes on by id counts what it carries along", () => {
    const kit = createKit({ responseCharactersMax: 1_000_000 });
    const first = send(kit, [image(400_000)]);
    const second = send(kit, "Go on.", { previous_response_id: first });
    const third = send(kit, "Go on.", { previous_response_id: second });
    expect(isRemembered(kit, third)).toBe(true);
    expect(isRemembered(kit, first)).toBe(false);
  });

  test("what the client asked not to store takes no room", () => {
    const kit = createKit({ responseCharactersMax: 500_000 });
    const first = send(kit, [image(300_000)]);
    for (let count = 0; count < 5; count += 1) send(kit, [image(300_000)], { store: false });
    expect(isRemembered(kit, first)).toBe(true);
  });

  test("beyond their number the oldest are forgotten", () => {
    const kit = createKit({ responsesMax: 2 });
    const ids = ["a", "b", "c"].map((text) => send(kit, text));
    expect(ids.map((id) => isRemembered(kit, id))).toEqual([false, true, true]);
  });
});
