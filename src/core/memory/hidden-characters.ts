// Characters that a model reads but people do not see. The one definition for memory and skills.

/** Each hidden character found, as U+200B. */
export function findHidden(text: string): readonly string[] {
  return (text.replace(meantJoiners, "").match(hidden) ?? []).map(toName);
}

/** Also removes legitimate joiners; use the result only to examine words. */
export function withoutHidden(text: string): string {
  return text.replace(hidden, "");
}

/** Excludes the variation selectors that come with emoji. */
const hidden =
  /(?![\t\n\r]|\ufe0e|\ufe0f)[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]/gu;

/** Legitimate invisible joiners: in emoji of several people, and between letters of some scripts. */
const meantJoiners =
  /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d(?=\p{Extended_Pictographic})|(?<=[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}])[\u200c\u200d]/gu;

function toName(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}
