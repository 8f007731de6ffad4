// Sections → system prompt blocks, slowest-changing first.
import { hasText, type Section } from "../layers/section.ts";
import { lifetimes, type Lifetime } from "../message/usage.ts";
import type { Tier } from "../tokens/budget.ts";
import type { Layout } from "./layout.ts";

export interface SystemBlock {
  /** Internal: policies and reports name a block by it. */
  readonly label: string;
  readonly tier: Extract<Tier, "T1" | "T2" | "T5">;
  readonly text: string;
  /** What its sections ask for; absent if they leave it to the policy. */
  readonly lifetime?: Lifetime;
}

/** The blocks of a session, without volatile text. Drops empty sections; equal stability keeps the caller's order. */
export function toSystemBlocks(sections: readonly Section[], layout: Layout): SystemBlock[] {
  return groupsOf(sections, layout).flatMap(({ sections: inside, ...block }) =>
    inside.length === 0
      ? []
      : [{ ...block, text: inside.map(({ text }) => text.trim()).join("\n\n") }],
  );
}

/** The sections of a session in the order of its blocks. */
export function inBlockOrder(sections: readonly Section[], layout: Layout): readonly Section[] {
  return groupsOf(sections, layout).flatMap((group) => group.sections);
}

interface SectionGroup extends Omit<SystemBlock, "text"> {
  readonly sections: readonly Section[];
}

function groupsOf(sections: readonly Section[], layout: Layout): readonly SectionGroup[] {
  return groupsByLayout(sections, layout).flatMap(byLifetime);
}

/** Sections that ask for a lifetime are a block of their own, the longest first: providers refuse a longer one after a shorter. */
function byLifetime(group: SectionGroup): readonly SectionGroup[] {
  const { label, sections } = group;
  const asked = lifetimes.toReversed().flatMap((lifetime): readonly SectionGroup[] => {
    const own = sections.filter((section) => section.lifetime === lifetime);
    return own.length === 0
      ? []
      : [{ ...group, label: `${label} ${lifetime}`, sections: own, lifetime }];
  });
  const rest = sections.filter((section) => section.lifetime === undefined);
  return [...asked, { ...group, sections: rest }];
}

function groupsByLayout(sections: readonly Section[], layout: Layout): readonly SectionGroup[] {
  const stable = sections.filter((section) => hasText(section) && section.stability !== "turn");
  const [fixed, session] = [withStability(stable, "static"), withStability(stable, "session")];
  switch (layout.systemBlocks) {
    case "by stability":
      return [
        { label: "static", tier: "T1", sections: fixed },
        { label: "session", tier: "T2", sections: session },
      ];
    case "one":
      return [{ label: "stable", tier: "T1", sections: [...fixed, ...session] }];
    case "labelled":
      return labels.map((label) => ({
        label,
        tier: "T1",
        sections: stable.filter((section) => labelOf(section) === label),
      }));
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

/** Documents belong to the workspace, though a session keeps them as they were at its start. */
function labelOf({ name, layer }: Section): (typeof labels)[number] {
  if (name === "skills") return "skills";
  if (name.startsWith("file ")) return "workspace";
  return layer === "session" || layer === "event" ? "binding_glue" : "workspace";
}

function withStability(
  sections: readonly Section[],
  stability: Section["stability"],
): readonly Section[] {
  return sections.filter((section) => section.stability === stability);
}
