// echo: repeats the last input.
import type { Model, Prompt } from "../prompt.ts";
import { forcedCall } from "./sample-input.ts";
import { summarise } from "./summariser.ts";

export function createEcho(): Model {
  return (prompt) => {
    if (prompt.wants === "summary") return summarise(prompt);
    const forced = forcedCall(prompt);
    if (forced !== null) return { parts: [forced], stop: "tool use" };
    const text = lastSaid(prompt);
    const thought = `I was told ${text.length} characters, and say them again.`;
    return {
      parts: [
        ...(prompt.thinks ? [{ kind: "thinking" as const, text: thought }] : []),
        { kind: "text", text },
      ],
      stop: "end",
    };
  };
}

/** The last text of a user or a tool; never empty, because no provider sends empty text. */
function lastSaid({ turns }: Prompt): string {
  const last = turns.findLast(({ role }) => role === "user");
  const results = last?.toolResults.map(({ text }) => text).join("\n") ?? "";
  return [results, last?.text ?? ""].filter((text) => text !== "").join("\n") || "(nothing)";
}
