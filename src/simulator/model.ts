// A simulated model: prompt in, reply out. The same prompts in the same order give the same replies.
import type { Prompt, Reply } from "./prompt.ts";

export interface Model {
  (prompt: Prompt): Reply;
  /** Drops the state, for models that have one. */
  readonly reset?: () => void;
}
