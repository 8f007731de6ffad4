// The simulated agent, which also hands work to a sub-agent once if the client has a tool for that.
import { createAgent, type Model, type Prompt, type ReplyPart } from "../../src/simulator/index.ts";

/** As Claude Code, opencode and others call it. */
const toolNames = /^(?:task|agent|invoke_agent)$/i;

/** `kind`: of sub-agent, as the client names it; null for none. */
export function createDelegator(kind: string | null): Model {
  const agent = createAgent();
  let hasDelegated = kind === null;
  return (prompt) => {
    const use = hasDelegated ? null : delegate(prompt, kind);
    if (use === null) return agent(prompt);
    hasDelegated = true;
    return { parts: [use], stop: "tool use" };
  };
}

function delegate({ tools, wants }: Prompt, kind: string | null): ReplyPart | null {
  const tool = tools.find(({ name }) => toolNames.test(name));
  if (tool === undefined || wants !== "reply") return null;
  const names = JSON.stringify(tool.inputSchema ?? {});
  const input = Object.fromEntries(
    Object.entries({ ...work, subagent_type: kind, agent_name: kind }).filter(([name]) =>
      names.includes(`"${name}"`),
    ),
  );
  return { kind: "tool use", name: tool.name, inputJson: JSON.stringify(input) };
}

const work: Readonly<Record<string, string>> = {
  description: "List the source files",
  prompt: "List the source files of this project.",
};
