// What fills the window at one call: the pieces that stand in its prompt, by what they are.
import type { Scene } from "./scene.ts";

export interface WindowPart {
  readonly name: string;
  readonly tier: string;
  readonly tokens: number;
  readonly pieceCount: number;
}

/** Largest first, within the order of the wire for tools and system text. */
export function fillWindow(
  { layers }: Pick<Scene, "layers">,
  column: number,
): readonly WindowPart[] {
  const here = layers.filter(({ from, to }) => from <= column && column < to);
  const groups = Map.groupBy(here, ({ tier, section }) => `${tier} ${kindOf(tier, section)}`);
  return [...groups.values()]
    .flatMap((pieces) => {
      const [first] = pieces;
      if (first === undefined) return [];
      const { tier, section } = first;
      const tokens = pieces.reduce((sum, { top, bottom }) => sum + top - bottom, 0);
      const strands = new Set(pieces.map(({ strand }) => strand));
      return [{ name: kindOf(tier, section), tier, tokens, pieceCount: strands.size }];
    })
    .toSorted((left, right) =>
      isFixed(left.tier) || isFixed(right.tier)
        ? left.tier.localeCompare(right.tier)
        : right.tokens - left.tokens,
    );
}

function isFixed(tier: string): boolean {
  return tier < "T3";
}

/** `result of Bash in user message 12` and its like are one kind. */
function kindOf(tier: string, section: string): string {
  if (isFixed(tier)) return section;
  if (section === "") return "history";
  const kind = section.replace(/ in (?:user |assistant )?(?:message|item) \d+$/, "");
  return kind.replace(/ \d+$/, "").replace(/^tool result$/, "results of tools");
}
