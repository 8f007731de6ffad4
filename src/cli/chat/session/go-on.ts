// Resumes a turn that was left open, with a notice.
import type { TurnEnding } from "../../../engine.ts";
import type { ChatSession } from "./chat-session.ts";
import type { ChatEvent } from "../state/update.ts";

export function goOn({
  chat,
  tell,
}: {
  readonly chat: ChatSession;
  readonly tell: (event: ChatEvent) => void;
}): Promise<TurnEnding> {
  tell({ type: "noticed", level: "info", text: "The last turn was left open; resuming it." });
  return chat.goOn();
}
