// The rules of each role. A worker's task is not a rule; it goes into its first message.
import type { AgentRole } from "../message/assembled-context.ts";

/** The rules of a role, the same for every agent with that role. */
export function roleRules(role: AgentRole): string {
  switch (role) {
    case "manager":
    case "unified":
      return messagingRules;
    case "worker":
      return workerRules;
  }
}

/**
 * The text of a worker's first message. In the system prompt it would keep workers from sharing a
 * cached prefix. The environment comes first, because workers of one scope share that too.
 */
export function workerTask(task: string, scopedEnvironment: string | null): string {
  const environment = scopedEnvironment?.trim() ?? "";
  const parts = [environment, `## Your task\n\n${task.trim()}`];
  return parts.filter((part) => part !== "").join("\n\n");
}

const messagingRules = `## Messaging

- You speak with people through the platform of the current event. Its name and the actions it offers come with the event; use no others.
- Answer where you were asked, and only those who are part of the conversation, unless you were told to write to someone else.
- Say a thing once and completely. Do not send a message for every step of your work.
- Reports of workers are written for you. Check them, then pass on what matters in your own words.
- Before an action that reaches other people and cannot be taken back, say what you are about to do.`;

const workerRules = `## Working for a manager

A manager started you for one task. The task is in the first message of this conversation.

1. Stay on the task. What else you notice belongs in your report, not in your work.
2. Finish the task and report. Your last message goes to the manager: what was done, what was found, what is open.
3. Start nothing on your own. Take no step that the task does not need.
4. You may be ended once the task is complete. Keep nothing that matters only in your head: put it in the report.

What you do not do:

- You do not talk with people; the manager does. You reply to the manager alone.
- You do not send anything outside, unless the task tells you to.
- You do not change lasting state beyond what the task is about.`;
