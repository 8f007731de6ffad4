import { expect, test } from "vitest";
import { createPromptCounter } from "../count-tokens.ts";
import { cutText } from "./cut-text.ts";

const prose = Array.from(
  { length: 2_000 },
  (_, index) =>
    `Line ${index}: it's "quoted", (twice) {x: ${index * 7}};${index % 9 === 0 ? "\n\n" : ""}`,
).join(" ");

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
  const one = cutText(`${prose} one`);
  const two = cutText(`${prose} two and more`);
  expect(two.slice(0, one.length - 1)).toEqual(one.slice(0, -1));
  expect(one.length).toBeGreaterThan(100);
});

test("cutting neither adds tokens nor loses any", () => {
  const counter = createPromptCounter();
  const pieces = cutText(prose).map((piece) => counter.text(piece, "o200k"));
  const sum = pieces.reduce((total, tokens) => total + tokens, 0);
  expect(Math.abs(sum - counter.text(prose, "o200k"))).toBeLessThanOrEqual(2);
});

test("no character is torn", () => {
  for (const piece of cutText("😀".repeat(5_000))) expect(piece.isWellFormed()).toBe(true);
});
