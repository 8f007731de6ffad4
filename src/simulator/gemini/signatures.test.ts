import { describe, expect, test } from "vitest";
import {
  call,
  calling,
  createKit,
  errorOf,
  response,
  user,
  type Answered,
  type Body,
  type Kit,
} from "./test-kit.ts";

const argon = "gemini-4-argon";

/** What the model answers to a question, as a client sends it back. */
function ask(kit: Kit, ...names: readonly string[]): Body {
  kit.answer = () => calling(...names);
  return kit.generate({ contents: [user("Read a.ts.")] }).json.candidates[0].content;
}

function goOn(kit: Kit, said: Body, answers = 1, model?: string): Answered {
  const parts = Array.from({ length: answers }, () => response("read", "text"));
  return kit.generate({ contents: [user("Read a.ts."), said, { role: "user", parts }] }, model);
}

function missing(position: number): string {
  return `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:read\` , position ${position}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`;
}

function without(content: Body): Body {
  const parts = content.parts.map((part: Body) => ({ ...part, thoughtSignature: undefined }));
  return { ...content, parts };
}

describe("a reply of Gemini 3 or later", () => {
  test("signs the first of its calls alone", () => {
    const { parts } = ask(createKit(), "read", "read");
    expect(parts.map((part: Body) => "thoughtSignature" in part)).toEqual([true, false]);
  });

  test("signs with bytes that say nothing, the same for the same seed", () => {
    const [{ thoughtSignature }] = ask(createKit(), "read").parts;
    expect(thoughtSignature).toMatch(/^[\w+/]{80,}=*$/);
    expect(ask(createKit(), "read").parts[0].thoughtSignature).toBe(thoughtSignature);
    expect(ask(createKit(), "write").parts[0].thoughtSignature).not.toBe(thoughtSignature);
  });

  test("goes on if it comes back as it was", () => {
    const kit = createKit();
    expect(goOn(kit, ask(kit, "read")).status).toBe(200);
    expect(goOn(kit, ask(kit, "read", "read"), 2).status).toBe(200);
  });

  test("costs input when it comes back", () => {
    const kit = createKit();
    const said = ask(kit, "read");
    const signed = goOn(kit, said).json.usageMetadata.promptTokenCount;
    const { thoughtSignature } = said.parts[0];
    const short = { ...said, parts: [{ ...said.parts[0], thoughtSignature: skipped }] };
    const unsigned = goOn(kit, short).json.usageMetadata.promptTokenCount;
    const tokens = Math.ceil(thoughtSignature.length * 0.2) - Math.ceil(skipped.length * 0.2);
    expect(signed - unsigned).toBe(tokens);
  });

  test("is refused without it in the current turn", () => {
    const kit = createKit();
    const answered = goOn(kit, without(ask(kit, "read")));
    expect(errorOf(answered)).toEqual([400, "INVALID_ARGUMENT", missing(2)]);
  });

  test("is refused if one of several steps lost it", () => {
    const kit = createKit();
    const first = ask(kit, "read");
    const answer = { role: "user", parts: [response("read", "text")] };
    const contents = [user("Read a.ts."), first, answer, without(first), answer];
    expect(errorOf(kit.generate({ contents }))).toEqual([400, "INVALID_ARGUMENT", missing(4)]);
  });

  test("may lose it in older turns", () => {
    const kit = createKit();
    const answer = { role: "user", parts: [response("read", "text")] };
    const contents = [user("Read."), without(ask(kit, "read")), answer, user("And now?")];
    expect(kit.generate({ contents }).status).toBe(200);
  });

  test("is refused with a signature that was changed, in older turns too", () => {
    const kit = createKit();
    const said = ask(kit, "read");
    const [part] = said.parts;
    const changed = part.thoughtSignature.replace(/.$|.(?==)/, "").replace(/^../, "zz");
    const wrong = { ...said, parts: [{ ...part, thoughtSignature: changed }] };
    const corrupted = [400, "INVALID_ARGUMENT", "Corrupted thought signature."];
    expect(errorOf(goOn(kit, wrong))).toEqual(corrupted);
    const answer = { role: "user", parts: [response("read", "text")] };
    const contents = [user("Read."), wrong, answer, user("And now?")];
    expect(errorOf(kit.generate({ contents }))).toEqual(corrupted);
  });

  test("is refused with a signature of another model", () => {
    const kit = createKit();
    const answered = goOn(kit, ask(kit, "read"), 1, argon);
    expect(errorOf(answered)).toEqual([400, "INVALID_ARGUMENT", "Invalid thought signature."]);
  });

  test("is refused with a signature of another key", () => {
    const kit = createKit();
    const said = ask(kit, "read");
    kit.workspace = "another";
    expect(errorOf(goOn(kit, said))[2]).toBe("Invalid thought signature.");
  });

  test.each(["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"])(
    "takes %s where a signature was lost",
    (thoughtSignature) => {
      const said = { role: "model", parts: [call("read", { thoughtSignature })] };
      expect(goOn(createKit(), said).status).toBe(200);
    },
  );

  test("needs none on calls that a text of the user does not begin", () => {
    const kit = createKit();
    const both = [response("read", "text"), { text: "And be quick." }];
    const contents = [user("Read."), without(ask(kit, "read")), { role: "user", parts: both }];
    expect(kit.generate({ contents }).status).toBe(200);
  });
});

const skipped = "skip_thought_signature_validator";

describe("a reply of Gemini 2.5", () => {
  const old = "gemini-2.5-pro";

  test("is signed if it was thought about and calls a function, and needs no signature", () => {
    const kit = createKit();
    const thought = { kind: "thinking", text: "I should read." } as const;
    kit.answer = () => ({ ...calling("read"), parts: [thought, ...calling("read").parts] });
    const said = kit.generate({ contents: [user("Read.")] }, old).json.candidates[0].content;
    expect(said.parts.map((part: Body) => "thoughtSignature" in part)).toEqual([true]);
    expect(said.parts[0].functionCall).toEqual({ name: "read", args: { path: "a.ts" } });
    expect(goOn(kit, without(said), 1, old).status).toBe(200);
    expect(goOn(kit, said, 1, old).status).toBe(200);
  });

  test("is not signed otherwise", () => {
    const kit = createKit();
    kit.answer = () => calling("read");
    const { parts } = kit.generate({ contents: [user("Read.")] }, old).json.candidates[0].content;
    expect(parts.map((part: Body) => "thoughtSignature" in part)).toEqual([false]);
  });
});
