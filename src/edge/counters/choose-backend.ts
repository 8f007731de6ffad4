// Chooses the counter: the configured one, if it is available.
import { protocols } from "../../core/wire/protocols.ts";

export interface BackendQuestion {
  /** As configured: auto, tiktoken, local, or what a protocol calls its counting. */
  readonly backend: string;
  /** The provider's counting API; null for none. */
  readonly api: string | null;
  /** Without a key the provider refuses to count. */
  readonly hasKey: boolean;
}

export interface ChosenBackend {
  /** tiktoken, local, or what the protocol calls its counting. */
  readonly backend: string;
  /** A warning for a person; null for none. */
  readonly warning: string | null;
}

/** `auto` asks the provider if it counts and there is a key. An unavailable backend becomes tiktoken. */
export function chooseBackend({ backend, api, hasKey }: BackendQuestion): ChosenBackend {
  const available = hasKey ? api : null;
  if (backend === "auto") return { backend: available ?? "tiktoken", warning: null };
  const isOurs = backend === "tiktoken" || backend === "local";
  if (isOurs || backend === available) return { backend, warning: null };
  if (backend === api)
    return instead(`the token counter ${backend} cannot be used: there is no key`);
  return protocols.some(({ counting }) => counting?.name === backend)
    ? instead(`the token counter ${backend} cannot be used: the provider does not offer it`)
    : instead(`the token counter ${JSON.stringify(backend.slice(0, 80))} is not known`);
}

function instead(problem: string): ChosenBackend {
  return { backend: "tiktoken", warning: `${problem}; tiktoken is taken instead` };
}
