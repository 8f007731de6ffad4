// Headers that are sent with every request to a provider.
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
    const isName = headerName.test(name);
    if (isName && !connectionHeaders.has(name.toLowerCase())) continue;
    const place = nodeAt(node, ["headers", name]) ?? node;
    if (place === undefined) continue;
    const path = `${context.path}.headers`;
    if (isName) {
      const message = `${joinPath(path, name)} is a header of the connection, which cannot be set`;
      reportError(context, place.origin, message, "remove it");
    } else {
      const message = `${path} has a name that cannot be sent`;
      const hint = "use letters, digits and dashes in the names of headers";
      reportError(context, place.origin, message, hint);
    }
  }
}

const headerName = /^[\w!#$%&'*+.^`|~-]+$/;
const headerText = /^[\t\x20-\x7e\x80-\xff]*$/;

export function canBeSent(name: string, value: string): boolean {
  return (
    headerName.test(name) && !connectionHeaders.has(name.toLowerCase()) && headerText.test(value)
  );
}

/** Set by us, or not allowed over connections that are kept. */
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
    meaning: "the value of the header",
    allowed: "text without line breaks",
    usual: "",
    accept: (value) => (typeof value === "string" && headerText.test(value) ? value : undefined),
    shape: { usual: null, fromText: (given) => given, show: showHeader },
  });
}

/** Any other may hold a credential. */
const harmlessHeaders: ReadonlySet<string> = new Set([
  "accept-language",
  "anthropic-beta",
  "anthropic-version",
  "http-referer",
  "openai-beta",
  "user-agent",
  "x-title",
]);

export function isHarmlessHeader(name: string): boolean {
  return harmlessHeaders.has(name.toLowerCase());
}

function showHeader(value: string, name: string): string {
  return isHarmlessHeader(name) ? maskText(value) : hide(value);
}

/** Shows only that there is a value. */
export function hide(text: string): string {
  return text === "" ? "" : masked;
}
