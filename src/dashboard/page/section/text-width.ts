// How wide a text is: measured once, because a picture has the same few texts in every frame.

const widths = new Map<string, number>();

/** More texts than a session has. */
const widthsMax = 5000;

export function widthOf(context: CanvasRenderingContext2D, text: string): number {
  const key = `${context.font} ${text}`;
  const known = widths.get(key);
  if (known !== undefined) return known;
  if (widths.size >= widthsMax) widths.clear();
  const { width } = context.measureText(text);
  widths.set(key, width);
  return width;
}
