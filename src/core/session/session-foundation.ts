// The foundation of a session: T0 to T2. Built when it starts, and again at a compaction, which breaks the cache anyway.
import { buildFoundation, type Foundation } from "../assembly/foundation.ts";
import { planPadding, toPaddingSection, type PaddingPlan } from "../assembly/padding.ts";
import { toSkillIndex } from "../assembly/skill-index.ts";
import { inBlockOrder, toSystemBlocks } from "../assembly/system-blocks.ts";
import { expectedCalls, type Pace } from "../cache/pace.ts";
import { hashContent } from "../hash.ts";
import { countBytes } from "../layers/cut-middle.ts";
import type { Section } from "../layers/section.ts";
import { guidanceFor } from "../layers/agent-profile.ts";
import { toSections } from "../layers/to-sections.ts";
import { encodeToolDefinition, type ToolDefinition } from "../message/tool-definition.ts";
import type { LoadedSkill } from "../skills/activation-events.ts";
import { fitIndex } from "../skills/fit-index.ts";
import { sizeTokensOf, versionOf } from "../skills/skill.ts";
import type { TokenCounter } from "../tokens/token-counter.ts";
import { chooseTools, selectTools, type ToolOffer } from "../tools/select-tools.ts";
import type { FoundationNotes, SectionNote, SessionSetup, SessionSkill } from "./session.ts";
import { usualRole } from "./session-role.ts";

/** The inputs for tools and system text. */
export interface FoundationSetup extends Pick<
  SessionSetup,
  | "model"
  | "protocol"
  | "policy"
  | "context"
  | "tools"
  | "permissions"
  | "toolset"
  | "toolsLeft"
  | "skills"
  | "notes"
  | "personaId"
> {
  /** Longest list of skills, in characters. */
  readonly skillIndexLengthMax?: number;
}

export interface SessionFoundation extends FoundationNotes {
  readonly foundation: Foundation;
}

/** Builds tools and system text. They stay the same until a compaction. */
export function makeFoundation(
  setup: FoundationSetup,
  counter: TokenCounter,
  pace: Pace,
): SessionFoundation {
  const { model, protocol, policy, context, permissions = [], toolsLeft = [], notes = {} } = setup;
  const offer: ToolOffer = {
    offered: setup.tools ?? [],
    granted: permissions,
    role: context.role ?? usualRole,
    order: policy.layout.toolOrder,
  };
  const { tools, left } = selectTools(offer);
  const { sections, padding } = paddedSections(setup, tools, counter, pace);
  return {
    foundation: buildFoundation({
      tools,
      system: toSystemBlocks(sections, policy.layout),
      spelling: protocol.spelling(model),
      counter,
      model,
    }),
    padding,
    preactivated: toPreactivated(setup.skills ?? [], padding),
    toolsLeft: [...toolsLeft, ...left],
    permissions,
    toolset: setup.toolset ?? null,
    madeOf: [
      ...inBlockOrder(sections, policy.layout).map(toNote),
      ...Object.entries(notes).map(toSourceNote),
    ],
    strataTools: chooseTools(offer)
      .chosen.filter(({ from }) => from === "strata")
      .map(({ definition }) => definition.name),
  };
}

function toPreactivated(
  skills: readonly SessionSkill[],
  { preactivated }: PaddingPlan,
): readonly LoadedSkill[] {
  return skills
    .filter(({ name }) => preactivated.includes(name))
    .map(({ name, body, source = "workspace" }) => ({
      name,
      version: versionOf(body),
      sizeTokens: sizeTokensOf(body),
      source,
    }));
}

function toNote({ name, layer, text }: Section): SectionNote {
  return { name, layer, hash: hashContent(text), bytes: countBytes(text) };
}

/** A note about what a session is made of, with its size. */
export function toSourceNote([name, note]: readonly [string, object]): SectionNote {
  const text = JSON.stringify(note);
  const size = { hash: hashContent(text), bytes: countBytes(text) };
  return { name, layer: "session", ...size, note };
}

/** The padding ends the static text. The skill index says which skill bodies it contains. */
function paddedSections(
  { model, policy, context: given, skills = [], skillIndexLengthMax }: FoundationSetup,
  tools: readonly ToolDefinition[],
  counter: TokenCounter,
  pace: Pace,
): { readonly sections: readonly Section[]; readonly padding: PaddingPlan } {
  const { guidance } = given;
  const context =
    guidance === undefined ? given : { ...given, modelGuidance: guidanceFor(guidance, model) };
  const { listed, note } = fitIndex(skills, skillIndexLengthMax);
  const natural = toSections({ ...context, skillIndex: toSkillIndex(listed, [], note) });
  const texts = [
    ...tools.map(encodeToolDefinition),
    ...natural.filter(isStatic).map(({ text }) => text),
  ];
  const { cache, toolPromptTokens } = model;
  const naturalTokens = texts.reduce(
    (sum, text) => sum + counter.text(text),
    tools.length === 0 ? 0 : (toolPromptTokens?.auto ?? 0),
  );
  const padding = planPadding({
    mode: policy.layout.padding,
    floorTokens: cache.markers === null ? 0 : (cache.minimumTokens ?? 0),
    naturalTokens,
    skills,
    countText: (text) => counter.text(text),
    expectedCalls: expectedCalls(pace),
    readMultiplier: cache.readMultiplier ?? 1,
    writeMultiplier: cache.lifetimes[0]?.writeMultiplier ?? 1,
  });
  const section = toPaddingSection(padding);
  if (section === null) return { sections: natural, padding };
  const skillIndex = toSkillIndex(listed, padding.preactivated, note);
  const marked = toSections({ ...context, skillIndex });
  return {
    sections: [...marked.filter(isStatic), section, ...marked.filter((each) => !isStatic(each))],
    padding,
  };
}

function isStatic({ stability }: Section): boolean {
  return stability === "static";
}
