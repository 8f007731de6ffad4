// agents.<id> → how its calls are made, in the engine's terms. What is not written keeps its default.
import type { AgentConfig } from "../../core/config/schema/agents.ts";
import { onlyPresent } from "../../core/message/fields.ts";
import { defaultReserves } from "../../core/tokens/budget.ts";
import type { CallOptions } from "../../core/wire/protocol.ts";
import type { EngineConfig } from "../../engine/session/engine-config.ts";

/** `given`: options of the program around the engine; they win. */
export function toAgentCalls(
  agent: AgentConfig | undefined,
  given: Partial<CallOptions> | undefined,
): Pick<EngineConfig, "options" | "pace" | "callsMax" | "reserves"> {
  const options = { ...(agent === undefined ? {} : toOptions(agent)), ...given };
  const { pace, callsMax, reserves } = agent ?? nothing;
  const { responseTokens, toolTokens } = reserves;
  const hasReserves = responseTokens !== null || toolTokens !== null;
  return {
    ...(Object.keys(options).length === 0 ? {} : { options }),
    ...onlyPresent({ pace, callsMax }),
    ...(hasReserves && {
      reserves: {
        responseTokens: responseTokens ?? defaultReserves.responseTokens,
        toolTokens: toolTokens ?? defaultReserves.toolTokens,
      },
    }),
  };
}

const nothing = {
  pace: null,
  callsMax: null,
  reserves: { responseTokens: null, toolTokens: null },
} as const;

function toOptions(agent: AgentConfig): Partial<CallOptions> {
  const { effort, thinking, temperature, replyTokensMax: outputTokensMax } = agent;
  const thinkingJson = thinking === null ? null : JSON.stringify(thinking);
  return onlyPresent({ effort, thinkingJson, temperature, outputTokensMax });
}
