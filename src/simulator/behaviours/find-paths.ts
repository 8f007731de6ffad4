// Files a tool's result speaks of, and the folder the client works in.
import type { Prompt } from "../prompt.ts";

/** Plain names with an extension only: nothing a shell could read as more than a name. */
const path =
  /(?<=^|[\s"'`(=>])((?:\.\/|\/)?[\w@][\w@.-]*(?:\/[\w@][\w@.-]*)*\.[A-Za-z]\w{0,5})(?=$|[\s"'`),:;<])/gm;
const notText =
  /\.(?:png|jpe?g|gif|ico|webp|pdf|zip|gz|tgz|tar|wasm|node|sqlite|db|woff2?|mp[34]|so|exe|bin)$/i;
const mayBeSecret =
  /(?:^|[/._-])(?:env|secrets?|credentials?|passwords?|tokens?|keys?|id_rsa|pem|p12|npmrc|netrc)(?:$|[/._-])/i;

/** In order of appearance, each once. Files that may hold secrets are left alone. */
export function findPaths(text: string): readonly string[] {
  const found = [...text.slice(0, 100_000).matchAll(path)].map((match) =>
    (match[1] ?? "").replace(/^\.\//, ""),
  );
  return [...new Set(found)].filter(
    (name) => !notText.test(name) && !mayBeSecret.test(name) && name.length < 200,
  );
}

const folderNamed = [
  /<cwd>\s*(\/[^\s<]*)\s*<\/cwd>/i,
  /(?:working directory|workspace(?: root)?|cwd)[^\n/]{0,20}[:=]\s*[`"']?(\/[\w@./-]*)/i,
];

/** Where the client says it works; null where it does not say. */
export function findFolder({ system, turns }: Prompt): string | null {
  const texts = [system, ...turns.map(({ text }) => text)];
  for (const text of texts) {
    for (const pattern of folderNamed) {
      const found = pattern.exec(text)?.[1];
      if (found !== undefined) return found.replace(/(.)[/.]+$/, "$1");
    }
  }
  const answers = turns.flatMap(({ toolResults }) => toolResults.map(({ text }) => text.trim()));
  return answers.find((text) => /^\/[\w@./-]+$/.test(text)) ?? null;
}
