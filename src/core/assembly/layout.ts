// The part of a policy that changes bytes: which system blocks there are, and where volatile text goes.

export interface Layout {
  readonly systemBlocks: SystemBlocks;
  readonly volatile: VolatilePlace;
  /** `memory`: the volatile text is memory as it is now, without the time. By default it is the time, and changes of memory. */
  readonly volatileText?: "memory";
  readonly padding: PaddingMode;
  readonly toolOrder: "sorted" | "given";
}

/**
 * How sections become system blocks: one per stability; one for everything stable; or one per label (workspace,
 * skills, binding_glue, channel_meta).
 */
export type SystemBlocks = "by stability" | "one" | "labelled";

/**
 * Where text goes that may change on any call. `message-tail`: after the current message, not stored.
 * `system-message`: a system message after the current one. `system-tail`: at the end of the system prompt,
 * before every message. `message-head`: before the words of the current message, stored with it.
 */
export type VolatilePlace = "message-tail" | "system-message" | "system-tail" | "message-head";

/** Whether to pad a prefix that is too short to be cached. */
export type PaddingMode = "auto" | "always" | "off";
