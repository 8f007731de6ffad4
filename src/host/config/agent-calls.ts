// agents.<id> → how its calls are made, in the engine's terms. What is not written keeps its default.
import type { AgentConfig } from "../../core/config/schema/agents.ts";
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
    ...(pace === null ? {} : { pace }),
    ...(callsMax === null ? {} : { callsMax }),
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

function toOptions({
  effort,
  thinking,
  temperature,
  replyTokensMax,
}: AgentConfig): Partial<CallOptions> {
  return {
    ...(effort === null ? {} : { effort }),
    ...(thinking === null ? {} : { thinkingJson: JSON.stringify(thinking) }),
    ...(temperature === null ? {} : { temperature }),
    ...(replyTokensMax === null ? {} : { outputTokensMax: replyTokensMax }),
  };
}
