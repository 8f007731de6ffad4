// Headers that somebody wants to be sent with every request.
import { nodeAt } from "../config-node.ts";
import { leaf } from "../leaves.ts";
import { masked, maskText } from "../mask-secrets.ts";
import { named, type Surroundings } from "../sections.ts";
import { joinPath, reportError, type Spec } from "../spec.ts";

export const headersSpec: Spec<ReadonlyMap<string, string>> = named(
  "headers to send with every request",
  headerValue(),
);

export function checkHeaderNames(
  { node, context }: Surroundings,
  headers: ReadonlyMap<string, string>,
): void {
  for (const name of headers.keys()) {
    const isName = /^[\w!#$%&'*+.^`|~-]+$/.test(name);
    if (isName && !connectionHeaders.has(name.toLowerCase())) continue;
    const place = nodeAt(node, ["headers", name]) ?? node;
    if (place === undefined) continue;
    const path = `${context.path}.headers`;
    if (isName) {
      const message = `${joinPath(path, name)} is about the connection, which is not for a setting to say`;
      reportError(context, place.origin, message, "remove it");
    } else {
      const message = `${path} has a name that cannot be sent`;
      const hint = "use letters, digits and dashes in the names of headers";
      reportError(context, place.origin, message, hint);
    }
  }
}

/** Ours to set, or not to be sent over kept connections. */
const connectionHeaders: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "content-type",
  "expect",
  "host",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

function headerValue(): Spec<string> {
  return leaf({
    meaning: "what the header says",
    allowed: "text without line breaks",
    usual: "",
    accept: (value) =>
      typeof value === "string" && /^[\t\x20-\x7e\x80-\xff]*$/.test(value) ? value : undefined,
    shape: { usual: null, fromText: (given) => given, show: showHeader },
  });
}

/** Any other may be how somebody proves who they are. */
const harmlessHeaders: ReadonlySet<string> = new Set([
  "accept-language",
  "anthropic-beta",
  "anthropic-version",
  "http-referer",
  "openai-beta",
  "user-agent",
  "x-title",
]);

function showHeader(value: string, name: string): string {
  return harmlessHeaders.has(name.toLowerCase()) ? maskText(value) : hide(value);
}

/** That there is something, and no more. */
export function hide(text: string): string {
  return text === "" ? "" : masked;
}
