import { expect, test } from "vitest";
import { createKit, minuteMs, sendChat, user, words } from "./test-kit.ts";
test.each(["gpt-5.5", "gpt-5.4"])(
  "%s asked to keep prefixes for 24h keeps them so long",
  (model) => {
    const kit = createKit();
    const messages = [user(words("a", 5000))];
    const day = { model, prompt_cache_retention: "24h" };
    sendChat(kit, messages, day);
    kit.nowMs += 24 * 60 * minuteMs;
    expect(sendChat(kit, messages, day).read).toBeGreaterThanOrEqual(4096);
    kit.nowMs += 24 * 60 * minuteMs + 1;
    expect(sendChat(kit, messages, day).read).toBe(0);
  },
);
