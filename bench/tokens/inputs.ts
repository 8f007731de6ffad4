// One megabyte of code, and one megabyte of each input that makes ordinary tokenizers slow.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createRandom } from "../../harness/random-message.ts";

const inputBytes = 1_000_000;

/** Source text of installed packages: real code that every clone has. */
export function readCode(): string {
  const root = new URL("../../node_modules/", import.meta.url).pathname;
  const parts: string[] = [];
  let length = 0;
  for (const name of ["chai", "commander", "fast-check", "knip", "postcss", "vitest", "yaml"]) {
    const files = readdirSync(join(root, name), { recursive: true, encoding: "utf8" });
    for (const file of files.filter((path) => path.endsWith(".js")).toSorted()) {
      // Part of each file, so that no single file dominates.
      const part = readFileSync(join(root, name, file), "utf8").slice(0, 40_000);
      parts.push(part);
      length += part.length;
      if (length >= inputBytes) return parts.join("\n").slice(0, inputBytes);
    }
  }
  return parts.join("\n");
}

/** Each is one deterministic megabyte of UTF-8. */
export function pathologicalInputs(): Readonly<Record<string, string>> {
  const next = createRandom(20_261_115);
  return {
    "one letter": "a".repeat(inputBytes),
    spaces: " ".repeat(inputBytes),
    emoji: pick(next, charactersOf("😀🎉👍🔥💡🚀🌍🍕🐍📦🧪🩹👩🏽🇩🇪"), inputBytes / 4),
    base64: pick(
      next,
      charactersOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"),
      inputBytes,
    ),
    CJK: pick(next, commonHan, inputBytes / 3),
    "special tokens": "<|endoftext|>".repeat(inputBytes / 13),
    BOM: "\uFEFF".repeat(inputBytes / 3),
  };
}

/** The same inputs, cut to what the unguarded library counts in about a second. */
export function comparableInputs(): Readonly<Record<string, string>> {
  const inputs = pathologicalInputs();
  const charactersMax: Readonly<Record<string, number>> = {
    "one letter": 20_000,
    spaces: 20_000,
    emoji: 10_000,
    base64: 200_000,
    CJK: 10_000,
    "special tokens": 500_000,
  };
  return {
    ...Object.fromEntries(
      Object.entries(charactersMax).map(([name, length]) => [
        name,
        inputs[name]?.slice(0, length) ?? "",
      ]),
    ),
    // The library miscounts a bare run of them (it drops U+FEFF while it looks up ranks, four times too many
    // tokens), so the comparison uses them where they occur: at the start of files.
    BOM: withByteOrderMarks(readCode().slice(0, 500_000), 100),
  };
}

function withByteOrderMarks(code: string, everyLines: number): string {
  return code
    .split("\n")
    .map((line, place) => (place % everyLines === 0 ? `\uFEFF${line}` : line))
    .join("\n");
}

/** Frequent Han characters and words, so that merges happen as in Chinese text. */
const commonHan = [
  ...charactersOf(
    "的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生自会那后能对着事其里所去行过家十用发天如然作方成者多日都三小军二无同么经法当起与好看学进种将还分此心前面又定见只主没公从",
  ),
  ..."我们 他们 可以 问题 工作 中国 一个 没有 自己 现在 什么 公司 系统 使用 文件 数据".split(" "),
];

function charactersOf(text: string): string[] {
  return Array.from(text);
}

function pick(next: () => number, choices: readonly string[], characters: number): string {
  const parts: string[] = [];
  let length = 0;
  while (length < characters) {
    const choice = choices[Math.floor(next() * choices.length)] ?? "";
    parts.push(choice);
    length += charactersOf(choice).length;
  }
  return parts.join("");
}
