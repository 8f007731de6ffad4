// Goal: bodies of every protocol with repairs get them at the right place. Method: bodies as text, read and repaired.
import { expect, test } from "vitest";
import type { RepairName } from "../../core/wire/foreign/foreign-reader.ts";
import { protocols } from "../../core/wire/protocols.ts";
import { BodyBytes } from "../observe/body-bytes.ts";
import { readBody } from "../observe/read-body.ts";
import { createBodyRepairer } from "./repair-body.ts";

function repair(path: string, body: string, repairs: readonly RepairName[]): string | null {
  const document = readBody({
    bytes: new BodyBytes([Buffer.from(body)]),
    prints: [],
    address: { path, headers: {} },
    rows: protocols.filter(({ foreign }) => foreign.isSentTo({ path, headers: {} })),
    before: [],
    isVendor: () => false,
  });
  if (document === null) throw new Error("the body is a model call");
  const repaired = createBodyRepairer().repair(document, repairs);
  return repaired === null ? null : Buffer.concat(repaired.pieces).toString();
}

function systemMessage(text: string): string {
  return `{"role":"system","content":"${text}"}`;
}

function functions(names: readonly string[]): string {
  return names.map((name) => `{"type":"function","function":{"name":"${name}"}}`).join(", ");
}

function claudeBody(system: string, content = '"Hi"'): string {
  return `{"model":"claude-sonnet-4-5","max_tokens":9,"system":${system},"messages":[{"role":"user","content":${content}},{"role":"assistant","content":"Well"}]}`;
}

test("Chat Completions: functions by their names, the time in a message of its own", () => {
  const user = '{"role":"user","content":"Hi – ü"}';
  expect(
    repair(
      "/v1/chat/completions",
      `{"model":"gpt-6.1-sol","messages":[${systemMessage(String.raw`Be brief.\nDate: 2026-11-16 ü`)}, ${user}],"tools":[${functions(["b", "a"])}]}`,
      ["sort_tools", "volatile_to_tail"],
    ),
  ).toBe(
    `{"model":"gpt-6.1-sol","messages":[${systemMessage("Be brief.")}, ${user},${systemMessage("Date: 2026-11-16 ü")}],"tools":[${functions(["a", "b"])}]}`,
  );
});

test("Responses: the time in the instructions becomes the last item", () => {
  const item = '{"role":"user","content":"Hi"}';
  const ask = (instructions: string, more: string): string =>
    `{"model":"gpt-6.1-sol","instructions":"${instructions}","input":[${item}${more}],"tools":[{"type":"function","name":"a","parameters":{"type":"object"}}]}`;
  expect(
    repair("/v1/responses", ask(String.raw`Now: 09:05\nBe brief.`, ""), ["volatile_to_tail"]),
  ).toBe(ask("Be brief.", ',{"role":"developer","content":"Now: 09:05"}'));
});

test("Messages: a plain text of the user becomes a list with both texts", () => {
  expect(
    repair("/v1/messages", claudeBody(String.raw`"Be brief.\nTime: 09:05"`, '"Hi"'), [
      "volatile_to_tail",
    ]),
  ).toBe(
    claudeBody('"Be brief."', '[{"type":"text","text":"Hi"},{"type":"text","text":"Time: 09:05"}]'),
  );
});

test("Messages: only the block of the client's version goes", () => {
  const version = '{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1;"}';
  const rules = '{"type":"text","text":"Be brief."}';
  const drop: readonly RepairName[] = ["drop_attribution"];
  expect(repair("/v1/messages", claudeBody(`[${version}, ${rules}]`), drop)).toBe(
    claudeBody(`[${rules}]`),
  );
  expect(repair("/v1/messages", claudeBody(`[${rules}, ${version}]`), drop)).toBe(
    claudeBody(`[${rules}]`),
  );
  expect(repair("/v1/messages", claudeBody(`[${version}]`), drop)).toBeNull();
  expect(repair("/v1/messages", claudeBody(`[${rules}]`), drop)).toBeNull();
});
