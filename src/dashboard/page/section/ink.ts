// The colours of a cross-section, from the style sheet, and the shades by which layers can be distinguished.

export interface Ink {
  readonly font: string;
  /** The height of its letters, about. */
  readonly textPixels: number;
  /** What lies behind everything. */
  readonly paper: string;
  readonly text: string;
  readonly soft: string;
  readonly line: string;
  /** From the bottom: tools, static system, session system, history, what is sent with one call. */
  readonly tiers: readonly string[];
  readonly shades: readonly string[];
  /** Layers that name themselves. */
  readonly heavy: string;
  readonly short: string;
  /** Hatched, for eyes that do not tell the colours apart. */
  readonly long: CanvasPattern | string;
  readonly longLine: string;
  readonly fresh: string;
  readonly good: string;
  readonly fault: string;
  readonly focus: string;
}

export function readInk(context: CanvasRenderingContext2D): Ink {
  const style = getComputedStyle(context.canvas);
  const read = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const history = read("t3");
  const longLine = read("w1");
  const textPixels = Math.round(Number.parseFloat(style.fontSize) * textShare);
  return {
    font: `${textPixels}px ${style.fontFamily}`,
    textPixels,
    paper: read("card"),
    text: read("ink"),
    soft: read("soft"),
    line: read("line"),
    tiers: [read("t0"), read("t1"), read("t2"), history, read("t4")],
    shades: tones.map((tone) => shade(history, tone)),
    heavy: mix(history, read("t2"), heavyShare),
    short: read("w5"),
    long: hatch(context, longLine, read("w5")),
    longLine,
    fresh: read("fresh"),
    good: read("good"),
    fault: read("fault"),
    focus: read("focus"),
  };
}

/** Of the size of the page's text. */
const textShare = 0.8;

const tones: readonly number[] = [0, 0.5, -0.35, 0.8, 0.15, -0.6, 0.35, -0.15];

/** Of the colour of the band below, which stands out on both papers. */
const heavyShare = 0.6;

function mix(colour: string, other: string, share: number): string {
  const [own, more] = [partsOf(colour), partsOf(other)];
  const mixed = own.map((part, at) => Math.round(part + ((more[at] ?? part) - part) * share));
  return `rgb(${mixed.join(",")})`;
}

function partsOf(colour: string): readonly number[] {
  const value = Number.parseInt(colour.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

function shade(colour: string, tone: number): string {
  return `rgb(${partsOf(colour)
    .map((part) => Math.max(0, Math.min(255, Math.round(part + 18 * tone))))
    .join(",")})`;
}

/** The tile that is repeated. */
export const hatchPixels = 6;

function hatch(
  context: CanvasRenderingContext2D,
  colour: string,
  below: string,
): CanvasPattern | string {
  const tile = document.createElement("canvas");
  [tile.width, tile.height] = [hatchPixels, hatchPixels];
  // In ordinary memory, as the picture itself: a graphics library may be gone by the time of painting.
  const drawn = tile.getContext("2d", { willReadFrequently: true });
  if (drawn === null) return colour;
  drawn.fillStyle = below;
  drawn.fillRect(0, 0, hatchPixels, hatchPixels);
  drawn.strokeStyle = colour;
  drawn.lineWidth = 2.2;
  drawn.beginPath();
  drawn.moveTo(-1, 7);
  drawn.lineTo(7, -1);
  drawn.stroke();
  return context.createPattern(tile, "repeat") ?? colour;
}
