// News from the gateway: a stream that comes back by itself after a break, and says where it left off.
import { signal } from "@preact/signals";
import { apiBase } from "../../../api/client/answers.ts";
import { isStranger, news } from "./ask.ts";

export const isLive = signal(false);

/** However many calls come at once, the views ask again this often at most. */
const askAgainMs = 1000;

/** What changes a figure on the page. */
const types = ["gateway.call", "llm.call_completed", "compaction.completed", "cache.miss"];

export function openNews(): void {
  if (isStranger.value) return;
  const source = new EventSource(`${apiBase}/events/stream?types=${types.join(",")}`);
  let isDue = false;
  const onNews = (): void => {
    if (isDue) return;
    isDue = true;
    setTimeout(() => {
      isDue = false;
      if (!document.hidden) news.value += 1;
    }, askAgainMs);
  };
  source.addEventListener("open", () => {
    isLive.value = true;
    onNews();
  });
  source.addEventListener("error", () => {
    isLive.value = false;
  });
  for (const kind of ["message", "missed"]) source.addEventListener(kind, onNews);
  document.addEventListener("visibilitychange", onNews);
}
