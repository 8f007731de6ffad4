// Characters that a model reads and people do not see; the one definition for memory and skills (H-14).

/** Each one that is there, as U+200B. */
export function findHidden(text: string): readonly string[] {
  return (text.replace(meantJoiners, "").match(hidden) ?? []).map(toName);
}

/** Also without the joiners that are meant: what is left is for looking at its words. */
export function withoutHidden(text: string): string {
  return text.replace(hidden, "");
}

/** Not those that choose how a picture is drawn; they come with every emoji. */
const hidden =
  /(?![\t\n\r]|\ufe0e|\ufe0f)[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]/gu;

/** Several people in one picture are joined by a character that is not seen, and so are letters of some scripts. */
const meantJoiners =
  /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d(?=\p{Extended_Pictographic})|(?<=[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}])[\u200c\u200d]/gu;

function toName(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}
