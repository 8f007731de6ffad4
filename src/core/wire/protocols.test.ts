import { describe, expect, test } from "vitest";
import { anthropicMessages } from "./anthropic-messages/index.ts";
import { openaiChat } from "./openai/chat/index.ts";
import {
  findAddress,
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
      "gemini",
      "bedrock-converse",
      "bedrock-invoke",
      "vertex-anthropic",
    ]);
    expect(protocolKinds).toEqual([
      "anthropic",
      "openai-chat",
      "openai-responses",
      "gemini",
      "bedrock",
      "bedrock-invoke",
      "vertex-anthropic",
      "openai-compatible",
      "vertex-gemini",
    ]);
    expect(protocolKinds.map((kind) => findProtocolOfKind(kind)?.name)).toEqual([
      "anthropic-messages",
      "openai-chat",
      "openai-responses",
      "gemini",
      "bedrock-converse",
      "bedrock-invoke",
      "vertex-anthropic",
      "openai-chat",
      "gemini",
    ]);
    expect(findProtocol("smoke-signals")).toBeUndefined();
  });

  test("have vendors that are found by their variables", () => {
    expect(
      vendors.map(({ name, keyVariable, protocol }) => [name, keyVariable, protocol.name]),
    ).toEqual([
      ["anthropic", "ANTHROPIC_API_KEY", "anthropic-messages"],
      ["openai", "OPENAI_API_KEY", "openai-responses"],
      ["google", "GEMINI_API_KEY", "gemini"],
      ["deepseek", "DEEPSEEK_API_KEY", "openai-chat"],
      ["qwen", "DASHSCOPE_API_KEY", "openai-chat"],
      ["minimax", "MINIMAX_API_KEY", "openai-chat"],
      ["moonshot", "MOONSHOT_API_KEY", "openai-chat"],
      ["xai", "XAI_API_KEY", "openai-chat"],
      ["groq", "GROQ_API_KEY", "openai-chat"],
      ["mistral", "MISTRAL_API_KEY", "openai-chat"],
      ["zai", "ZAI_API_KEY", "openai-chat"],
      ["openrouter", "OPENROUTER_API_KEY", "openai-chat"],
      ["bedrock", "AWS_BEARER_TOKEN_BEDROCK", "bedrock-converse"],
      ["vertex", "CLOUDSDK_AUTH_ACCESS_TOKEN", "vertex-anthropic"],
      ["ollama", "OLLAMA_API_KEY", "openai-chat"],
      ["vllm", "VLLM_API_KEY", "openai-chat"],
      ["llama.cpp", "LLAMA_API_KEY", "openai-chat"],
      ["lm-studio", "LM_STUDIO_API_KEY", "openai-chat"],
    ]);
    expect(
      ["anthropic", "openai", "google", "deepseek", "nobody"].map(
        (name) => usualProtocol(name).name,
      ),
    ).toEqual(["anthropic-messages", "openai-responses", "gemini", "openai-chat", "openai-chat"]);
  });

  test("have addresses for vendors that speak another's protocol, and none for one that is not spoken there", () => {
    expect(findAddress("deepseek", openaiChat)).toBe("https://api.deepseek.com/v1");
    expect(findAddress("deepseek", anthropicMessages)).toBe("https://api.deepseek.com/anthropic");
    expect(findAddress("groq", anthropicMessages)).toBeUndefined();
    expect(findAddress("anthropic", anthropicMessages)).toBeUndefined();
    for (const { listed } of vendors) {
      const addresses = [...(listed?.addresses ?? [])];
      expect(addresses.filter(([kind]) => !protocolKinds.includes(kind))).toEqual([]);
      expect(addresses.filter(([, url]) => !URL.canParse(url) || url.endsWith("/"))).toEqual([]);
    }
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
