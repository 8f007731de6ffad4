// Who counts: what the configuration names, and what of it there is (N-03, N-32).
import type { CountApiName } from "./count-api.ts";

export type CounterBackend = CountApiName | "tiktoken" | "local";

export interface BackendQuestion {
  /** As configured: auto, anthropic_api, openai_api, tiktoken or local. */
  readonly backend: string;
  /** What the provider offers; null for nothing. */
  readonly api: CountApiName | null;
  /** Without one the provider answers nobody. */
  readonly hasKey: boolean;
}

export interface ChosenBackend {
  readonly backend: CounterBackend;
  /** What a person should know; null for nothing. */
  readonly warning: string | null;
}

/** `auto` asks the provider where it counts and there is a key. What cannot be had becomes tiktoken. */
export function chooseBackend({ backend, api, hasKey }: BackendQuestion): ChosenBackend {
  const available = hasKey ? api : null;
  switch (backend) {
    case "auto":
      return { backend: available ?? "tiktoken", warning: null };
    case "tiktoken":
    case "local":
      return { backend, warning: null };
    case "anthropic_api":
    case "openai_api": {
      if (available === backend) return { backend, warning: null };
      const reason = api === backend ? "there is no key" : "the provider does not offer it";
      return instead(`the token counter ${backend} cannot be used: ${reason}`);
    }
    default:
      return instead(`the token counter ${JSON.stringify(backend.slice(0, 80))} is not known`);
  }
}

function instead(problem: string): ChosenBackend {
  return { backend: "tiktoken", warning: `${problem}; tiktoken is taken instead` };
}
