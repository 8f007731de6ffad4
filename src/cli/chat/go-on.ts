// A turn that somebody left open is gone on with, and that is said.
import type { TurnEnding } from "../../engine.ts";
import type { ChatSession } from "./chat-session.ts";
import type { ChatEvent } from "./update.ts";

export function goOn({
  chat,
  tell,
}: {
  readonly chat: ChatSession;
  readonly tell: (event: ChatEvent) => void;
}): Promise<TurnEnding> {
  tell({ type: "noticed", level: "info", text: "The last turn was left open; going on with it." });
  return chat.goOn();
}
