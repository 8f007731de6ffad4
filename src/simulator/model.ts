// What a simulated model is: from a prompt to a reply, always the same reply for the same prompt and past.
import type { Prompt, Reply } from "./prompt.ts";

export interface Model {
  (prompt: Prompt): Reply;
  /** Forgets the past, for models that have one. */
  readonly reset?: () => void;
}
