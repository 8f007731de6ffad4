// Colours, if the output is a terminal.
import { styleText } from "node:util";

export interface RenderOptions {
  /** Columns; infinite if the output is not a terminal. */
  readonly width: number;
  readonly colours: boolean;
  /** Whether replies are shown as Markdown means them, which only a screen does. */
  readonly markdown?: boolean;
}

type Style = Parameters<typeof styleText>[0];

export type Paint = (style: Style, text: string) => string;

export function createPaint({ colours }: Pick<RenderOptions, "colours">): Paint {
  return (style, text) =>
    colours && text !== "" ? styleText(style, text, { validateStream: false }) : text;
}
