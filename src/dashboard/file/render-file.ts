// A page as one file: its script, its style and its data are in it. It loads nothing and sends nothing.
import { hash } from "node:crypto";
import { createPageFiles, type PageFiles } from "../page-files.ts";
import type { FileData } from "./file-data.ts";

const pageFiles = createPageFiles();

/** Deterministic for the same data. */
export async function renderFile(title: string, data: FileData): Promise<string> {
  const files = await pageFiles();
  const [script, style] = [textOf(files, "file.js"), textOf(files, "page.css")];
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy.join("; ")}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<div id="app"></div>
<noscript>This page needs JavaScript. The same figures: the command without --html.</noscript>
<script type="application/json" id="strata-data">${toInertJson(data)}</script>
<script type="module">${script}</script>
</body>
</html>
`;
}

/** JSON that cannot end its element, or become markup. */
function toInertJson(data: FileData): string {
  return JSON.stringify(data).replaceAll("<", "\\u003c");
}

/** A script in a page must not hold the end of its own element. */
function textOf(files: PageFiles, name: string): string {
  const text = Buffer.from(files.get(name)?.body ?? []).toString("utf8");
  return name.endsWith(".js") ? text.replaceAll(/<(?=\/script|!--)/gi, "\\x3c") : text;
}

function hashOf(text: string): string {
  return `sha256-${hash("sha256", text, "base64")}`;
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
