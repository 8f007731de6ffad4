// What the silent turn before a compaction says to the agent. Later notes do not count it among the user's words.

export const memoryFlushText =
  "This conversation is about to be shortened. If anything in it should be remembered beyond it, save that now with the memory tools; save nothing that is in memory already. Nothing you write here is shown to the user. Then reply with: done.";
