import { hash } from "node:crypto";
import { expect, test } from "vitest";
import { cpuMsOf } from "../../harness/measure.ts";
import { createPromptCounter } from "./count-tokens.ts";
import { cutText } from "./cut-text.ts";

const prose = Array.from(
  { length: 2_000 },
  (_, index) =>
    `Line ${index}: it's "quoted", (twice) {x: ${index * 7}};${index % 9 === 0 ? "\n\n" : ""}`,
).join(" ");

const code = Array.from(
  { length: 500 },
  (_, index) =>
    `function step${index}(value: number): number {\n\tconst next = value * ${index};\n\n\t// Why: "${index}"\n\treturn next;\n}\n`,
).join("\n");

const chinese =
  "人工智能的发展正在改变世界各地的工作方式，许多公司开始使用语言模型来处理文件。我们需要仔细考虑这些技术的影响，并且在教育、医疗和交通领域寻找新的机会！";

const samples = {
  prose,
  code,
  chinese: chinese.repeat(60),
  chineseWithoutSigns: chinese.replaceAll(/[^\p{L}]/gu, "").repeat(60),
  japanese: "これは日本語の文章です。東京は今日も晴れていて、人々は公園を散歩しています。".repeat(
    100,
  ),
  korean: "안녕하세요 오늘은 날씨가 좋아서 공원에 산책하러 갔습니다. ".repeat(100),
  thai: "ประเทศไทยมีวัฒนธรรมที่หลากหลายและอาหารอร่อยมากมาย".repeat(100),
  minifiedJson: JSON.stringify(Array.from({ length: 500 }, (_, id) => ({ id, name: `n${id}` }))),
  base64: Array.from({ length: 300 }, (_, index) => hash("sha256", `${index}`, "base64")).join(""),
};

const counter = createPromptCounter();

/** Extra tokens of the pieces, as a share of the tokens of the text. */
function drift(text: string): number {
  const sum = cutText(text).reduce((total, piece) => total + counter.text(piece, "o200k"), 0);
  const whole = counter.text(text, "o200k");
  return (sum - whole) / whole;
}

test("joined, the pieces are the text, whatever it is", () => {
  for (const text of [
    "",
    "x",
    prose,
    "x".repeat(20_000),
    "😀".repeat(5_000),
    " \n".repeat(3_000),
  ]) {
    expect(cutText(text).join("")).toBe(text);
  }
});

test("texts that begin alike share their first pieces", () => {
  for (const text of Object.values(samples)) {
    const one = cutText(`${text} one`);
    const two = cutText(`${text} two and more`);
    const shared = one.findIndex((piece, index) => piece !== two[index]);
    expect(text.length - one.slice(0, shared).join("").length).toBeLessThan(100);
  }
});

test("a piece is less than a step of 128 tokens, also where no space is", () => {
  for (const text of Object.values(samples)) {
    const sizes = cutText(text).map((piece) => counter.text(piece, "o200k"));
    expect(Math.max(...sizes)).toBeLessThan(128);
  }
});

test("where words, lines and signs end, cutting neither adds tokens nor loses any", () => {
  for (const text of [prose, code, samples.korean])
    expect(Math.abs(drift(text))).toBeLessThan(2e-3);
});

test("cutting changes the count of any text by less than two percent", () => {
  for (const text of Object.values(samples)) expect(Math.abs(drift(text))).toBeLessThan(2e-2);
});

test("a message of a megabyte is cut without delay", () => {
  const megabyte = prose.repeat(Math.ceil(1_000_000 / prose.length));
  let pieces: ReturnType<typeof cutText> = [];
  expect(cpuMsOf(() => (pieces = cutText(megabyte)))).toBeLessThan(500);
  expect(pieces.length).toBeLessThan(megabyte.length / 64 + 1);
});

test("no character is torn", () => {
  for (const piece of cutText("😀".repeat(5_000))) expect(piece.isWellFormed()).toBe(true);
});
