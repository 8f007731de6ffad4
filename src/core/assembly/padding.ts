// Whether to pad a prefix that is too short to be cached, and with what. Decided once, at session start.
import type { Section } from "../layers/section.ts";
import type { PaddingMode } from "./layout.ts";
import { operatingContext } from "./operating-context.ts";
import { preloadedMark } from "./skill-index.ts";

export interface PaddingRequest {
  readonly mode: PaddingMode;
  /** The shortest prefix the provider keeps. */
  readonly floorTokens: number;
  /** Tools and static text without padding. */
  readonly naturalTokens: number;
  readonly skills: readonly PaddingSkill[];
  readonly countText: (text: string) => number;
  /** How many calls will send this prefix during its lifetime. */
  readonly expectedCalls: number;
  /** The cost of a read token, in uncached tokens. */
  readonly readMultiplier: number;
  /** The cost of a written token, in uncached tokens. */
  readonly writeMultiplier: number;
  /** For the mode `always`. */
  readonly bounds?: PaddingBounds;
}

export interface PaddingSkill {
  readonly name: string;
  readonly body: string;
}

export interface PaddingBounds {
  /** A prefix of this length needs no padding. */
  readonly tokensMin: number;
  /** A padded prefix is never longer. */
  readonly tokensMax: number;
}

export interface PaddingPlan {
  /** For the end of the static text, in this order. */
  readonly texts: readonly string[];
  /** Skills whose whole body is in the texts. */
  readonly preactivated: readonly string[];
  /** Tokens of the texts and of the marks in the skill index. */
  readonly tokens: number;
  /** A short sentence for people. */
  readonly reason: string;
}

/** Well above the observed floor, because estimates by length are low. */
const defaultBounds: PaddingBounds = { tokensMin: 4500, tokensMax: 5500 };

/** Same inputs, same bytes: the order of skills does not matter. */
export function planPadding(request: PaddingRequest): PaddingPlan {
  switch (request.mode) {
    case "off":
      return noPadding("no padding: it is switched off");
    case "always":
      return padAlways(request, request.bounds ?? defaultBounds);
    case "auto":
      return padIfItPays(request);
  }
}

/** From how many calls on a cached padded prefix costs less than the uncached natural one. Null if it never does. */
export function breakEvenCalls({
  naturalTokens,
  paddedTokens,
  readMultiplier,
  writeMultiplier,
}: {
  readonly naturalTokens: number;
  readonly paddedTokens: number;
  readonly readMultiplier: number;
  readonly writeMultiplier: number;
}): number | null {
  const savedPerCall = naturalTokens - readMultiplier * paddedTokens;
  if (savedPerCall <= 0) return null;
  return ((writeMultiplier - readMultiplier) * paddedTokens) / savedPerCall;
}

/** The padding as the last static section. Null for none. */
export function toPaddingSection({ texts }: Pick<PaddingPlan, "texts">): Section | null {
  if (texts.length === 0) return null;
  return { name: "padding", layer: "workspace", stability: "static", text: texts.join("\n\n") };
}

function noPadding(reason: string): PaddingPlan {
  return { texts: [], preactivated: [], tokens: 0, reason };
}

function padAlways(request: PaddingRequest, bounds: PaddingBounds): PaddingPlan {
  const { naturalTokens } = request;
  if (naturalTokens >= bounds.tokensMin) {
    return noPadding(
      `no padding: ${naturalTokens} tokens reach the minimum of ${bounds.tokensMin}`,
    );
  }
  return fill(request, bounds);
}

function padIfItPays(request: PaddingRequest): PaddingPlan {
  const { floorTokens, naturalTokens, expectedCalls, readMultiplier, writeMultiplier } = request;
  if (naturalTokens >= floorTokens) {
    return noPadding(`no padding: ${naturalTokens} tokens reach the minimum of ${floorTokens}`);
  }
  const bounds = boundsFor(floorTokens);
  const filled = fill(request, bounds);
  const paddedTokens = naturalTokens + filled.tokens;
  const sizes = `${naturalTokens} tokens padded to ${paddedTokens}`;
  if (paddedTokens < bounds.tokensMin) {
    return noPadding(`no padding: ${sizes} stay below the minimum of ${bounds.tokensMin}`);
  }
  const calls = breakEvenCalls({ naturalTokens, paddedTokens, readMultiplier, writeMultiplier });
  if (calls === null) return noPadding(`no padding: ${sizes} never pay for themselves`);
  const comparison = `pay from ${calls.toFixed(1)} calls on, expected are ${expectedCalls}`;
  if (expectedCalls < calls) return noPadding(`no padding: ${sizes} ${comparison}`);
  return { ...filled, reason: `${filled.reason}; they ${comparison}` };
}

/** Adds a margin of 2 % for estimation errors, and room for a paragraph or a short skill. */
function boundsFor(floorTokens: number): PaddingBounds {
  const tokensMin = Math.ceil(floorTokens * 1.02);
  const { tokensMin: usualMin, tokensMax: usualMax } = defaultBounds;
  return { tokensMin, tokensMax: Math.ceil((tokensMin * usualMax) / usualMin) };
}

/** Whole skills by name, then paragraphs, until the minimum is reached. Skips what does not fit; never cuts. */
function fill(
  { naturalTokens, skills, countText }: PaddingRequest,
  { tokensMin, tokensMax }: PaddingBounds,
): PaddingPlan {
  const texts: string[] = [];
  const preactivated: string[] = [];
  const passedOver: string[] = [];
  const markTokens = countText(preloadedMark);
  let tokens = 0;
  const isShort = (): boolean => naturalTokens + tokens < tokensMin;
  const add = (text: string, besidesTokens: number): boolean => {
    const more = countText(`\n\n${text}`) + besidesTokens;
    if (naturalTokens + tokens + more > tokensMax) return false;
    texts.push(text);
    tokens += more;
    return true;
  };
  for (const { name, body } of sortedByName(skills)) {
    if (!isShort()) break;
    const isIn = add(`# Skill: ${name}\n\n${body.trim()}`, markTokens);
    (isIn ? preactivated : passedOver).push(name);
  }
  for (const paragraph of operatingContext) {
    if (!isShort()) break;
    add(paragraph, 0);
  }
  const paragraphCount = texts.length - preactivated.length;
  const outcome =
    `padded from ${naturalTokens} to ${naturalTokens + tokens} tokens (minimum ${tokensMin}) ` +
    `with ${preactivated.length} skills and ${paragraphCount} paragraphs`;
  const omission = passedOver.length === 0 ? "" : `; too long to fit: ${passedOver.join(", ")}`;
  return { texts, preactivated, tokens, reason: `${outcome}${omission}` };
}

/** The first of two skills with one name counts. */
function sortedByName(skills: readonly PaddingSkill[]): readonly PaddingSkill[] {
  const byName = new Map<string, PaddingSkill>();
  for (const skill of skills) {
    if (skill.body.trim() !== "" && !byName.has(skill.name)) byName.set(skill.name, skill);
  }
  return [...byName.values()].toSorted((left, right) => (left.name < right.name ? -1 : 1));
}
