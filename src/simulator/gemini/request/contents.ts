// A conversation as the simulator reads it: contents of parts.

export interface Content {
  readonly role: "user" | "model";
  readonly parts: readonly Part[];
  /** From 1, as error messages count them. */
  readonly position: number;
}

export type Part = {
  /** Null if the part carries none. */
  readonly signature: string | null;
} & (
  | { readonly kind: "text"; readonly text: string; readonly isThought: boolean }
  | Media
  | {
      readonly kind: "call";
      /** Null if the client left it out: calls and responses are then matched by order. */
      readonly id: string | null;
      readonly name: string;
      /** As the client sent it, without white space. */
      readonly argsJson: string;
    }
  | {
      readonly kind: "response";
      readonly id: string | null;
      readonly name: string;
      readonly responseJson: string;
      /** What the model is told. */
      readonly text: string;
      readonly isError: boolean;
      readonly media: readonly Media[];
    }
  /** A part that only counts by its text, such as code that the provider ran. */
  | { readonly kind: "other"; readonly source: string }
);

export interface Media {
  readonly kind: "media";
  readonly mimeType: string;
  /** The part's text for comparing, as the client sent it. */
  readonly source: string;
  /** Null if it is no image, or its size cannot be read. */
  readonly size: { readonly width: number; readonly height: number } | null;
  readonly bytes: number;
}

/** The contents of one speaker in a row, which the provider reads as one. */
export interface Turn {
  readonly role: Content["role"];
  readonly contents: readonly Content[];
}

export function toTurns(contents: readonly Content[]): readonly Turn[] {
  const turns: { role: Content["role"]; contents: Content[] }[] = [];
  for (const content of contents) {
    const last = turns.at(-1);
    if (last !== undefined && last.role === content.role) last.contents.push(content);
    else turns.push({ role: content.role, contents: [content] });
  }
  return turns;
}

export function partsOf({ contents }: Turn): readonly Part[] {
  return contents.flatMap(({ parts }) => parts);
}

export function textOf(parts: readonly Part[]): string {
  return parts
    .flatMap((part) => {
      if (part.kind === "text") return part.isThought ? [] : [part.text];
      return part.kind === "media" ? [`[${part.mimeType}]`] : [];
    })
    .filter((text) => text !== "")
    .join("\n");
}
