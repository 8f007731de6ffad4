// Paths of Claude on Vertex: the model and what is asked of it, after a base URL that ends with the publisher.

/** Vertex counts tokens as if by a model of this name. */
export const countingModel = "count-tokens";

export function modelPath(model: string, stream: boolean): string {
  const name = encodeURIComponent(model.toWellFormed()).replaceAll("%40", "@");
  return `/models/${name}:${stream ? "streamRawPredict" : "rawPredict"}`;
}

/** The model of a path or URL as Vertex names it, with project and location where the path has them; null for another path. */
export function readModelPath(path: string | null): string | null {
  const found = pattern.exec(path ?? "");
  if (found === null) return null;
  const [, place = "", publisher = "anthropic", name = ""] = found;
  if (publisher !== "anthropic") return null;
  return `${place}publishers/anthropic/models/${decodeName(name)}`;
}

const pattern =
  /(?:^|\/)(projects\/[^/]+\/locations\/[^/]+\/)?(?:publishers\/([^/]+)\/)?models\/([^/:?#]+):(?:r|streamR)awPredict(?:[?#]|$)/;

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
