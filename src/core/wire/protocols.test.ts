import { describe, expect, test } from "vitest";
import {
  findProtocol,
  findProtocolOfKind,
  protocolKinds,
  protocols,
  usualProtocol,
  vendors,
} from "./protocols.ts";

describe("the protocols we speak", () => {
  test("have names that are stored, and kinds that a configuration may say", () => {
    expect(protocols.map(({ name }) => name)).toEqual([
      "anthropic-messages",
      "openai-chat",
      "openai-responses",
    ]);
    expect(protocolKinds).toEqual([
      "anthropic",
      "openai-chat",
      "openai-responses",
      "openai-compatible",
    ]);
    expect(protocolKinds.map((kind) => findProtocolOfKind(kind)?.name)).toEqual([
      "anthropic-messages",
      "openai-chat",
      "openai-responses",
      "openai-chat",
    ]);
    expect(findProtocol("smoke-signals")).toBeUndefined();
  });

  test("have vendors that are found by their variables", () => {
    expect(
      vendors.map(({ name, keyVariable, protocol }) => [name, keyVariable, protocol.name]),
    ).toEqual([
      ["anthropic", "ANTHROPIC_API_KEY", "anthropic-messages"],
      ["openai", "OPENAI_API_KEY", "openai-responses"],
    ]);
    expect(["anthropic", "openai", "deepseek"].map((name) => usualProtocol(name).name)).toEqual([
      "anthropic-messages",
      "openai-responses",
      "openai-chat",
    ]);
  });

  test("share no name, kind, vendor or counter", () => {
    const words = protocols.flatMap(({ name, counting }) => [
      name,
      counting?.name ?? `none of ${name}`,
    ]);
    for (const list of [words, protocolKinds, vendors.map(({ name }) => name)]) {
      expect(new Set(list).size).toBe(list.length);
    }
  });
});
