import { describe, expect, test } from "vitest";
import { plantedKey, plantedOpenaiKey } from "../../../harness/planted-key.ts";
import { resolveModel } from "../../core/models/resolve-model.ts";
import { StrataError } from "../../core/strata-error.ts";
import { configOf } from "../config/test-kit.ts";
import { chooseProvider, type ProviderChoice } from "./reach-choice.ts";

const key = { ANTHROPIC_API_KEY: plantedKey };

function choose(model: string, yaml = "{}", env: Record<string, string> = {}): ProviderChoice {
  const { facts } = resolveModel(model);
  const isOwnRoute = facts.route.endsWith("-api");
  return chooseProvider({ ...facts, isOwnRoute }, configOf(yaml, { env }).providers);
}

function nameOf(choice: ProviderChoice): string {
  return choice.kind === "configured" ? choice.name : choice.why;
}

describe("who answers for a model", () => {
  test("the provider that has the name of its own, once it has a key", () => {
    expect(nameOf(choose("claude-sonnet-4-6", "{}", key))).toBe("anthropic");
    expect(nameOf(choose("gpt-5.5", "{}", { OPENAI_API_KEY: plantedOpenaiKey }))).toBe("openai");
  });

  test("one at an address of its own needs no key", () => {
    const yaml = "providers: { anthropic: { base_url: http://localhost:8080 } }";
    expect(nameOf(choose("claude-sonnet-4-6", yaml))).toBe("anthropic");
  });

  test("a provider of the user's own, by the name its models have", () => {
    const yaml = `
providers: { garage: { kind: openai-compatible, base_url: "http://localhost:8000/v1" } }
`;
    const { providers } = configOf(yaml);
    const model = { id: "llama", provider: "garage", route: "garage", isOwnRoute: true };
    expect(nameOf(chooseProvider(model, providers))).toBe("garage");
  });

  test("a vendor of the list, by the variable of its key; a server on this machine without one", () => {
    const env = { DEEPSEEK_API_KEY: plantedKey };
    expect(nameOf(choose("deepseek-flash", "{}", env))).toBe("deepseek");
    expect(
      nameOf(choose("openrouter/deepseek-flash", "{}", { OPENROUTER_API_KEY: plantedKey })),
    ).toBe("openrouter");
    expect(nameOf(choose("ollama/qwen3:8b"))).toBe("ollama");
    expect(nameOf(choose("ollama/qwen3:8b", "{}", env))).toBe("ollama");
    const failure = thrownBy(() => choose("mistral-large-4", "{}", env));
    expect(failure.hint).toBe("set MISTRAL_API_KEY, or choose a model of deepseek");
  });

  test("another route is another provider: facts and prices are the route's", () => {
    const model = {
      ...resolveModel("foundry/claude-sonnet-4-6").facts,
      isOwnRoute: false,
    };
    const { providers } = configOf("{}", { env: key });
    expect(() => chooseProvider(model, providers)).toThrow(
      "the provider foundry is not configured",
    );
    const failure = thrownBy(() => choose("bedrock/claude-sonnet-4-6", "{}", key));
    expect(failure.hint).toBe("set AWS_BEARER_TOKEN_BEDROCK, or choose a model of anthropic");
  });

  test("a cloud answers with a key or with its own credentials, and by these only for models that name it", () => {
    const aws = { AWS_PROFILE: "work", AWS_REGION: "eu-central-1" };
    expect(nameOf(choose("bedrock/claude-sonnet-4-6", "{}", aws))).toBe("bedrock");
    expect(nameOf(choose("bedrock/claude-sonnet-4-6", "{}", { ...key, ...aws }))).toBe("bedrock");
    expect(choose("claude-sonnet-4-6", "{}", aws).kind).toBe("simulated");
    const bearer = { AWS_BEARER_TOKEN_BEDROCK: plantedKey };
    expect(nameOf(choose("bedrock/claude-sonnet-4-6", "{}", bearer))).toBe("bedrock");
    const google = { GOOGLE_APPLICATION_CREDENTIALS: "/keys/a.json" };
    expect(nameOf(choose("vertex/claude-sonnet-4-6", "{}", google))).toBe("vertex");
    expect(choose("bedrock/claude-sonnet-4-6", "{}", { AWS_REGION: "eu-central-1" }).kind).toBe(
      "simulated",
    );
  });
});

describe("the simulator", () => {
  test("answers where nothing is configured", () => {
    expect(choose("claude-sonnet-4-6")).toEqual({
      kind: "simulated",
      why: "no provider has a key",
    });
  });

  test("answers where it is asked for, whatever keys there are", () => {
    const yaml = "providers: { anthropic: { kind: simulator } }";
    expect(choose("claude-sonnet-4-6", yaml, key).kind).toBe("simulated");
  });

  test("does not answer by mistake: another provider's key means that real answers are wanted", () => {
    const failure = thrownBy(() => choose("gpt-5.5", "{}", key));
    expect(failure.code).toBe("environment-unfit");
    expect(failure.message).toBe("gpt-5.5 cannot be reached: the provider openai has no key");
    expect(failure.hint).toBe("set OPENAI_API_KEY, or choose a model of anthropic");
  });
});

function thrownBy(work: () => unknown): StrataError {
  try {
    work();
  } catch (error) {
    if (error instanceof StrataError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}
