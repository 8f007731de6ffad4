// Text that an agent sends and its transcript does not hold, found without looking at any bill.
import type { Message } from "../../src/core/message/message.ts";

/** What has passed since the agent last used its task list, and since it was last reminded of it. */
interface Since {
  readonly taskTool: number;
  readonly reminder: number;
}

/**
 * Claude Code reminds the model of its task list when this many blocks of its replies, thinking not counted, have passed
 * without a task tool and without a reminder. Seen in bills of its versions 2.0 and 2.1: about 105 tokens, and the list
 * itself if there is one. Its sub-agents have no list.
 */
const blocksBetween = 10;
const agentWithReminders = "claude-code";
const taskTools: readonly string[] = ["TodoWrite", "TaskCreate", "TaskUpdate"];

/** Takes the messages of each request in order; says whether the request had a reminder that is not among them. */
export function createReminderRule(
  agent: string,
): (keep: number, appended: readonly Message[]) => boolean {
  const after: Since[] = [];
  return (keep, appended) => {
    after.length = Math.min(after.length, keep);
    for (const message of appended) {
      after.push(sinceAfter(after.at(-1) ?? { taskTool: 0, reminder: 0 }, message));
    }
    const last = after.at(-1);
    if (agent !== agentWithReminders || last === undefined) return false;
    if (last.taskTool < blocksBetween || last.reminder < blocksBetween) return false;
    after[after.length - 1] = { ...last, reminder: 0 };
    return true;
  };
}

function sinceAfter({ taskTool, reminder }: Since, { role, content }: Message): Since {
  if (role !== "assistant") return { taskTool, reminder };
  const blocks = content.filter(({ type }) => type === "text" || type === "tool_use");
  const lastTask = blocks.findLastIndex(
    (block) => block.type === "tool_use" && taskTools.includes(block.name),
  );
  return {
    taskTool: lastTask < 0 ? taskTool + blocks.length : blocks.length - 1 - lastTask,
    reminder: reminder + blocks.length,
  };
}
