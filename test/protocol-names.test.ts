// Goal: a new protocol is a folder and a row. Method: search the source for code that asks which protocol it has.
import { globSync, readdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { exceptions, findProtocolNames, isSearched } from "../scripts/check/find-protocol-names.ts";
import { protocols } from "../src/core/wire/protocols.ts";

const names = protocols.map(({ name }) => name);
const searched = globSync("src/**/*.ts").filter(isSearched);

function namedIn(file: string): readonly string[] {
  return findProtocolNames(file, readFileSync(file, "utf8"), names).map(
    ({ line, what }) => `${file}:${line} ${what}`,
  );
}

test("no code outside core/wire asks for a protocol by its name", () => {
  expect(searched.filter((file) => !(file in exceptions)).flatMap(namedIn)).toEqual([]);
});

test("every exception is one that is needed", () => {
  expect(Object.keys(exceptions).filter((file) => namedIn(file).length === 0)).toEqual([]);
});

test("the search sees the code it guards", () => {
  expect(names).toEqual([
    "anthropic-messages",
    "openai-chat",
    "openai-responses",
    "gemini",
    "bedrock-converse",
    "bedrock-invoke",
    "vertex-anthropic",
  ]);
  expect(searched.length).toBeGreaterThan(300);
  expect(searched).toContain("src/edge/providers/provider.ts");
  expect(searched.filter((file) => /core\/wire\/|simulator\/|\.test\.ts$/.test(file))).toEqual([]);
});

test("every protocol has the same files, so that two can be read side by side", () => {
  const folders = globSync("src/core/wire/**/index.ts").map(dirname);
  expect(folders).toHaveLength(protocols.length);
  const files = folders.map((folder) => readdirSync(folder));
  const shared = files[0]?.filter((file) => files.every((others) => others.includes(file))) ?? [];
  expect(shared.filter((file) => !/test/.test(file)).toSorted()).toEqual([
    "decode.ts",
    "encode.ts",
    "foreign.ts",
    "index.ts",
    "schema.ts",
    "spelling.ts",
    "stream.ts",
    "usage.ts",
  ]);
});

test.each<[string, string, readonly string[]]>([
  ["a comparison", 'if (protocol.name === "openai-chat") go();', ["openai-chat"]],
  ["a case", "switch (name) {\n  case 'anthropic-messages':\n}", ["anthropic-messages"]],
  ["a key of a table", '  "openai-responses": 30,', ["openai-responses"]],
  ["a pattern", "if (/^openai-chat$/.test(name)) go();", ["openai-chat"]],
  ["a type", 'type Wire = "anthropic-messages" | "openai-chat";', names.slice(0, 2)],
  [
    "an import of one",
    'import { openaiChat } from "../../core/wire/openai/chat/index.ts";',
    ["src/core/wire/openai/chat/index.ts"],
  ],
  [
    "a lazy import of one that is not written yet",
    'await import("../../core/wire/gemini/usage.ts");',
    ["src/core/wire/gemini/usage.ts"],
  ],
])("%s is found", (_name, code, expected) => {
  const found = findProtocolNames("src/edge/providers/planted.ts", code, names);
  expect(found.map(({ what }) => what)).toEqual(expected);
});

test.each([
  ["a comment", "// openai-chat has none\n/* nor has\n   anthropic-messages */"],
  ["another word", 'const model = "my-openai-chat-model";'],
  ["what protocols share", 'import { toEndpoint } from "../../core/wire/access.ts";'],
  [
    "what reads for all of them",
    'import { readRequest } from "../../core/wire/foreign/read-request.ts";',
  ],
  ["a property", 'if (protocol.foreign.cacheDefaults.mode === "explicit") go();'],
])("%s is fine", (_name, code) => {
  expect(findProtocolNames("src/edge/providers/planted.ts", code, names)).toEqual([]);
});
