// Whether a prefix that is too short to be cached is made longer, and with what. Decided once, at session start.
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
  /** In any order. */
  readonly skills: readonly PaddingSkill[];
  readonly countText: (text: string) => number;
  /** How many calls will send this prefix while it is kept. */
  readonly expectedCalls: number;
  /** What a token costs that is read, in tokens that are not cached. */
  readonly readMultiplier: number;
  /** The same for a token that is written. */
  readonly writeMultiplier: number;
  /** Of the mode `always`. */
  readonly bounds?: PaddingBounds;
}

export interface PaddingSkill {
  readonly name: string;
  readonly body: string;
}

export interface PaddingBounds {
  /** No padding from here on. */
  readonly tokensMin: number;
  /** Never more than this with padding. */
  readonly tokensMax: number;
}

export interface PaddingPlan {
  /** To stand at the end of the static text, in this order. */
  readonly texts: readonly string[];
  /** Names of the skills whose whole body is in the texts. */
  readonly preactivated: readonly string[];
  /** What the texts and the marks in the skill index add. */
  readonly tokens: number;
  /** A short sentence for people. */
  readonly reason: string;
}

/** Well above the floor that was observed, since estimates by length are low. */
const defaultBounds: PaddingBounds = { tokensMin: 4500, tokensMax: 5500 };

/** Same inputs, same bytes: skills in any order give the same plan. */
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

/**
 * From how many calls on a padded prefix that is cached costs less than the natural one that is not
 *; null where it never does.
 */
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

/** The padding as the last of the static sections; null for none. */
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

/** A margin of 2 % for what estimates miss, and room for a paragraph or a short skill above it. */
function boundsFor(floorTokens: number): PaddingBounds {
  const tokensMin = Math.ceil(floorTokens * 1.02);
  const { tokensMin: usualMin, tokensMax: usualMax } = defaultBounds;
  return { tokensMin, tokensMax: Math.ceil((tokensMin * usualMax) / usualMin) };
}

/** Whole skills by name, then paragraphs, until the minimum is reached. What does not fit is passed over, never cut. */
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

/** Of two with one name the first counts. */
function sortedByName(skills: readonly PaddingSkill[]): readonly PaddingSkill[] {
  const byName = new Map<string, PaddingSkill>();
  for (const skill of skills) {
    if (skill.body.trim() !== "" && !byName.has(skill.name)) byName.set(skill.name, skill);
  }
  return [...byName.values()].toSorted((left, right) => (left.name < right.name ? -1 : 1));
}
