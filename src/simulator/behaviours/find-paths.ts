// Finds file names in tool results, and the client's working folder.
import type { Prompt } from "../prompt.ts";

/** Only plain names with an extension, so that a shell cannot read them as anything else. */
const path =
  /(?<=^|[\s"'`(=>])((?:\.\/|\/)?[\w@][\w@.-]*(?:\/[\w@][\w@.-]*)*\.[A-Za-z]\w{0,5})(?=$|[\s"'`),:;<])/gm;
const notText =
  /\.(?:png|jpe?g|gif|ico|webp|pdf|zip|gz|tgz|tar|wasm|node|sqlite|db|woff2?|mp[34]|so|exe|bin)$/i;
const mayBeSecret =
  /(?:^|[/._-])(?:env|secrets?|credentials?|passwords?|tokens?|keys?|id_rsa|pem|p12|npmrc|netrc)(?:$|[/._-])/i;

/** In order of appearance, without duplicates. Skips files that may contain secrets. */
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

/** The working folder the client names; null if it names none. */
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
