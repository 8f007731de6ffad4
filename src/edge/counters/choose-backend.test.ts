import { describe, expect, test } from "vitest";
import { chooseBackend } from "./choose-backend.ts";

describe("CF-F: who counts", () => {
  test("auto asks a provider that counts and has a key (N-32)", () => {
    expect(chooseBackend({ backend: "auto", api: "anthropic_api", hasKey: true })).toEqual({
      backend: "anthropic_api",
      warning: null,
    });
    expect(chooseBackend({ backend: "auto", api: "openai_api", hasKey: true }).backend).toBe(
      "openai_api",
    );
  });

  test("auto without a key, or without a counting API, is tiktoken, without a warning", () => {
    const tiktoken = { backend: "tiktoken", warning: null };
    expect(chooseBackend({ backend: "auto", api: "anthropic_api", hasKey: false })).toEqual(
      tiktoken,
    );
    expect(chooseBackend({ backend: "auto", api: null, hasKey: true })).toEqual(tiktoken);
  });

  test.each(["tiktoken", "local"])("%s is taken as it is, with a key and without", (backend) => {
    for (const hasKey of [true, false]) {
      const chosen = chooseBackend({ backend, api: "anthropic_api", hasKey });
      expect(chosen).toEqual({ backend, warning: null });
    }
  });

  test("a backend that is asked for and unavailable gives a warning", () => {
    expect(
      chooseBackend({ backend: "anthropic_api", api: "anthropic_api", hasKey: false }),
    ).toEqual({
      backend: "tiktoken",
      warning:
        "the token counter anthropic_api cannot be used: there is no key; tiktoken is taken instead",
    });
    expect(chooseBackend({ backend: "anthropic_api", api: "openai_api", hasKey: true })).toEqual({
      backend: "tiktoken",
      warning:
        "the token counter anthropic_api cannot be used: the provider does not offer it; tiktoken is taken instead",
    });
  });

  test("an unknown one is tiktoken, with a warning (N-03)", () => {
    expect(chooseBackend({ backend: "tictoken", api: "anthropic_api", hasKey: true })).toEqual({
      backend: "tiktoken",
      warning: 'the token counter "tictoken" is not known; tiktoken is taken instead',
    });
  });
});
