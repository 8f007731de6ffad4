// The simulated agent, which also hands work to a sub-agent once if the client has a tool for that.
import { createAgent, type Model, type Prompt, type ReplyPart } from "../../src/simulator/index.ts";

/** As Claude Code, opencode and others call it. */
const toolNames = /^(?:task|agent|spawn_agent|invoke_agent)$/i;

export function createDelegator(): Model {
  const agent = createAgent();
  let hasDelegated = false;
  return (prompt) => {
    const use = hasDelegated ? null : delegate(prompt);
    if (use === null) return agent(prompt);
    hasDelegated = true;
    return { parts: [use], stop: "tool use" };
  };
}

function delegate({ tools, wants }: Prompt): ReplyPart | null {
  const tool = tools.find(({ name }) => toolNames.test(name));
  if (tool === undefined || wants !== "reply") return null;
  const names = JSON.stringify(tool.inputSchema ?? {});
  const input = Object.fromEntries(
    Object.entries(wishes).filter(([name]) => names.includes(`"${name}"`)),
  );
  return { kind: "tool use", name: tool.name, inputJson: JSON.stringify(input) };
}

const wishes: Readonly<Record<string, string>> = {
  description: "List the source files",
  prompt: "List the source files of this project.",
  objective: "List the source files of this project.",
  message: "List the source files of this project.",
  subagent_type: "general-purpose",
};
