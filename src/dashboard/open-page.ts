// Serves the page below /strata/: files without data, so everyone who reaches the gateway may load them; the API asks who they are.
import type { IncomingMessage, ServerResponse } from "node:http";
import { messageOf } from "../core/strata-error.ts";
import { createPageFiles, type PageFile, type PageFiles } from "./page-files.ts";

export interface Page {
  /** Whether the path of a request is one of the page's. */
  takes(url: string): boolean;
  answer(incoming: IncomingMessage, outgoing: ServerResponse): void;
}

const base = "/strata/";

/** Nothing from elsewhere, nothing inline, in no frame. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

export function openPage(): Page {
  const files = createPageFiles();
  return {
    takes: (url) => /^\/strata(?:\/(?:page\.(?:js|css))?)?(?:\?|$)/.test(url),
    answer: (incoming, outgoing) => {
      files().then(
        (known) => answer(incoming, outgoing, known),
        (error: unknown) => fail(outgoing, messageOf(error)),
      );
    },
  };
}

function answer(
  { url = "", method = "GET", headers }: IncomingMessage,
  outgoing: ServerResponse,
  files: PageFiles,
): void {
  const [path = ""] = url.split("?");
  if (method !== "GET" && method !== "HEAD") {
    outgoing.writeHead(405, { allow: "GET, HEAD" }).end();
    return;
  }
  const file = files.get(path.slice(base.length));
  if (path.length < base.length || file === undefined) {
    outgoing.writeHead(308, { location: base }).end();
    return;
  }
  const isKnown = headers["if-none-match"] === file.tag;
  outgoing.writeHead(isKnown ? 304 : 200, headersOf(file));
  // Node leaves the body out of the answer to HEAD.
  outgoing.end(isKnown ? undefined : file.body);
}

function headersOf({ type, tag, body }: PageFile): Readonly<Record<string, string | number>> {
  return {
    "content-type": type,
    "content-length": body.length,
    etag: tag,
    "cache-control": "no-cache",
    "content-security-policy": policy,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
  };
}

function fail(outgoing: ServerResponse, message: string): void {
  outgoing.writeHead(500, { "content-type": "text/plain; charset=utf-8" });
  outgoing.end(`${message}\n`);
}
