// Paths of Bedrock's runtime: they hold the model, percent-encoded, and what is asked of it.

export type ModelAction =
  | "converse"
  | "converse-stream"
  | "invoke"
  | "invoke-with-response-stream"
  | "count-tokens";

export function modelPath(model: string, action: ModelAction): string {
  return `/model/${encodeName(model)}/${action}`;
}

/** A colon in a version and the slashes of an ARN are encoded, too. */
export function encodeName(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** What a path or URL asks of which model; null for another path. */
export function readModelPath(
  path: string | null,
): { readonly model: string; readonly action: ModelAction } | null {
  const found = pattern.exec(path ?? "");
  const action = actions.find((each) => each === found?.[2]);
  if (found === null || action === undefined) return null;
  return { model: decodeName(found[1] ?? ""), action };
}

const actions: readonly ModelAction[] = [
  "converse",
  "converse-stream",
  "invoke",
  "invoke-with-response-stream",
  "count-tokens",
];

/** An ARN may come with its slash as it is. */
const pattern = /\/model\/([^?#]+)\/([a-z-]+)\/?(?:[?#]|$)/;

export function decodeName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
