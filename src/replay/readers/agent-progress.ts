// The calls of sub-agents that some versions of Claude Code write into the file of the session, as progress of a tool.
import { fieldsIn, textIn, type Fields } from "../../core/message/fields.ts";

/** Gives the message inside a line of progress as lines of the sub-agent's own thread. Other lines hold none. */
export function createAgentProgress(): (line: Fields) => readonly Fields[] {
  /** The last line of each sub-agent. */
  const last = new Map<string, string>();
  return (line) => {
    const data = fieldsIn(line, "data");
    if (line["type"] !== "progress" || data["type"] !== "agent_progress") return [];
    const agent = textIn(data, "agentId") ?? textIn(line, "parentToolUseID");
    const said = fieldsIn(data, "message");
    const uuid = textIn(said, "uuid") ?? `progress ${textIn(line, "uuid") ?? ""}`;
    if (agent === undefined || (said["type"] !== "user" && said["type"] !== "assistant")) return [];
    const timestamp = textIn(said, "timestamp") ?? line["timestamp"];
    const common = { isSidechain: true, agentId: agent, timestamp };
    const prompt = textIn(data, "prompt");
    const lines: Fields[] = [];
    // Where the file begins with a reply, the prompt that it answers stands beside it.
    if (!last.has(agent) && said["type"] === "assistant" && prompt !== undefined) {
      const asked = `prompt of ${agent}`;
      const message = { role: "user", content: prompt };
      lines.push({ ...common, uuid: asked, parentUuid: null, type: "user", message });
      last.set(agent, asked);
    }
    lines.push({
      ...common,
      uuid,
      parentUuid: last.get(agent) ?? null,
      type: said["type"],
      requestId: said["requestId"],
      message: said["message"],
    });
    last.set(agent, uuid);
    return lines;
  };
}
