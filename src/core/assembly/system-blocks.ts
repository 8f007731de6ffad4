// Sections → system prompt blocks, slowest-changing first.
import { hasText, type Section } from "../layers/section.ts";
import type { Tier } from "../tokens/budget.ts";
import type { Layout } from "./layout.ts";

export interface SystemBlock {
  /** Internal: policies and reports name a block by it. */
  readonly label: string;
  readonly tier: Extract<Tier, "T1" | "T2" | "T5">;
  readonly text: string;
}

/** The blocks of a session, without volatile text. Drops empty sections; equal stability keeps the caller's order. */
export function toSystemBlocks(sections: readonly Section[], layout: Layout): SystemBlock[] {
  const stable = sections.filter((section) => hasText(section) && section.stability !== "turn");
  switch (layout.systemBlocks) {
    case "by stability":
      return [
        ...blockOf("static", "T1", withStability(stable, "static")),
        ...blockOf("session", "T2", withStability(stable, "session")),
      ];
    case "one":
      return blockOf("stable", "T1", [
        ...withStability(stable, "static"),
        ...withStability(stable, "session"),
      ]);
    case "labelled":
      return labels.flatMap((label) =>
        blockOf(
          label,
          "T1",
          stable.filter((section) => labelOf(section) === label),
        ),
      );
  }
}

/** The volatile text. Null if there is none. */
export function volatileText(sections: readonly Section[]): string | null {
  const texts = sections
    .filter((section) => section.stability === "turn" && hasText(section))
    .map(({ text }) => text.trim());
  return texts.length === 0 ? null : texts.join("\n\n");
}

/** The label of volatile text inside the system prompt. */
export function volatileLabel(layout: Layout): string {
  return layout.systemBlocks === "labelled" ? "channel_meta" : "volatile";
}

const labels = ["workspace", "skills", "binding_glue"] as const;

function labelOf({ name, layer }: Section): (typeof labels)[number] {
  if (name === "skills") return "skills";
  return layer === "session" || layer === "event" ? "binding_glue" : "workspace";
}

function withStability(
  sections: readonly Section[],
  stability: Section["stability"],
): readonly Section[] {
  return sections.filter((section) => section.stability === stability);
}

function blockOf(
  label: string,
  tier: SystemBlock["tier"],
  sections: readonly Section[],
): SystemBlock[] {
  if (sections.length === 0) return [];
  return [{ label, tier, text: sections.map(({ text }) => text.trim()).join("\n\n") }];
}
