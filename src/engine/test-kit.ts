// For tests: a provider that talks to a simulator, and calls without a ledger.
import { assemble } from "../core/assembly/assemble.ts";
import { planCache } from "../core/cache/plan-cache.ts";
import type { Message, Role } from "../core/message/message.ts";
import { anthropicMessages } from "../core/wire/anthropic-messages/index.ts";
import type { Protocol } from "../core/wire/protocol.ts";
import { anthropicEndpoint } from "../core/wire/anthropic-messages/access.ts";
import { openaiEndpoint } from "../core/wire/openai/access.ts";
import type { Provider, ProviderOptions } from "../edge/providers/provider.ts";
import { closeLater, openProvider } from "../edge/providers/test-kit.ts";
import type { Session } from "../core/session/session.ts";
import { settleCall, type SettledCall } from "../core/turn/settle-call.ts";

export function say(role: Role, text: string): Message {
  return { role, content: [{ type: "text", text }] };
}

/** A provider for the given server. closeAll closes it. It does not retry: tests that need retries make them. */
export async function connect(
  simulator: { readonly listen: (where: { readonly port: 0 }) => Promise<Listening> },
  protocol: Protocol,
  timeouts: ProviderOptions["timeouts"] = {},
): Promise<Provider> {
  const server = closeLater(await simulator.listen({ port: 0 }));
  const apiKey = process.env["PLANTED_KEY"] ?? "";
  const endpoint =
    protocol === anthropicMessages
      ? anthropicEndpoint({ apiKey, baseUrl: server.url })
      : openaiEndpoint({ apiKey, baseUrl: `${server.url}/v1` });
  const retries = { attemptsMax: 1 };
  return openProvider(server.url, { ...endpoint, protocol, retries, timeouts });
}

interface Listening {
  readonly url: string;
  close(): Promise<void>;
}

/** Sends one call with this text and returns the session after it. */
export async function speak(
  session: Session,
  provider: Provider,
  text: string,
): Promise<SettledCall> {
  const { thread, policy, model, protocol, options, cache, pace } = session;
  const { layout, markers } = policy;
  const current = [say("user", text)];
  const assembly = assemble({ thread, current, volatile: null, layout, model });
  const { blocks } = assembly;
  const startMs = Date.now();
  const plan = planCache({ blocks, rules: model, markers, state: cache, pace, now: startMs });
  const request = protocol.encode({ assembly, plan, model, options });
  const sent = await provider.send({ request, stream: options.stream });
  const made = { turnId: "t", number: 1, assembly, plan, request, sent, startMs };
  return settleCall(session, { ...made, endMs: Date.now() });
}
