// Output of models and tools as plain text, without terminal control sequences.

/** Removes escape sequences, other control characters and text direction marks; keeps line breaks. */
export function toPlain(text: string): string {
  if (!suspect.test(text)) return text;
  return text
    .replace(/\r\n?|[\u2028\u2029\u0085]/g, "\n")
    .replace(sequences, "")
    .replace(steering, "");
}

/** The same on one line. */
export function toPlainLine(text: string): string {
  return toPlain(text).replace(/\s+/g, " ").trim();
}

const suspect = /(?![\n\t])[\p{Cc}\u2028-\u202e\u2066-\u2069]/u;

/** CSI with its parameters, as far as it came; OSC, DCS, APC, PM and SOS up to their end or the end of the line; all others. */
const sequences =
  // oxlint-disable-next-line no-control-regex -- the pattern matches control characters
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*(?:[@-~]|$)|(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c\n]*(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-~]/g;

const steering = /(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;
