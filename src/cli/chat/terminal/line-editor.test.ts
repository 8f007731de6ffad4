import { expect, test } from "vitest";
import { editLine, emptyEditor, takeLine, type Editor, type Key } from "./line-editor.ts";

function type(start: Editor, ...keys: readonly (string | Key)[]): Editor {
  return keys.reduce<Editor>(
    (editor, key) => editLine(editor, typeof key === "string" ? { name: key, sequence: key } : key),
    start,
  );
}

const control = (name: string): Key => ({ name, ctrl: true, sequence: "\u0001" });
const named = (name: string): Key => ({ name, sequence: "\u001b[x" });

function withText(text: string): Editor {
  return { ...emptyEditor, text, cursor: text.length };
}

test("letters are inserted at the cursor", () => {
  const editor = type(emptyEditor, "a", "c", named("left"), "b");
  expect(editor).toMatchObject({ text: "abc", cursor: 2 });
});

test("the cursor moves by whole characters, accents and emoji included", () => {
  const editor = type(withText("日👩‍👩‍👧é"), named("left"), named("left"));
  expect(editor.cursor).toBe(1);
  expect(type(editor, named("delete")).text).toBe("日é");
  expect(type(editor, named("backspace")).text).toBe("👩‍👩‍👧é");
});

test("Ctrl keys delete as in a shell", () => {
  expect(type(withText("one two  "), control("w"))).toMatchObject({ text: "one ", cursor: 4 });
  expect(type(withText("one two"), control("u")).text).toBe("");
  const middle = { ...withText("one two"), cursor: 3 };
  expect(type(middle, control("k"))).toMatchObject({ text: "one", cursor: 3 });
  expect(type(middle, control("a")).cursor).toBe(0);
  expect(type(middle, control("e")).cursor).toBe(7);
  expect(type(emptyEditor, control("w"), named("backspace"))).toEqual(emptyEditor);
});

test("the history shows earlier lines, and the draft after them", () => {
  const one = takeLine(withText("first"));
  const two = takeLine(type(one, ..."second".split("")));
  const draft = type(two, ..."dra".split(""));
  const up = type(draft, named("up"));
  expect(up.text).toBe("second");
  expect(type(up, named("up"), named("up")).text).toBe("first");
  expect(type(up, named("down")).text).toBe("dra");
});

test("the history keeps a repeated line once, and no blank lines", () => {
  const twice = takeLine({ ...takeLine(withText("again")), text: "again" });
  expect(takeLine({ ...twice, text: "  " }).history).toEqual(["again"]);
});

test("pasted lines are text, never keys", () => {
  const editor = type(
    emptyEditor,
    named("paste-start"),
    { name: "a", sequence: "a" },
    { name: "return", sequence: "\r" },
    { name: "c", ctrl: true, sequence: "\u0003" },
    { name: "b", sequence: "b" },
    named("paste-end"),
  );
  expect(editor).toMatchObject({ text: "a\nb", cursor: 3, isPasting: false });
});

test("Alt-Enter begins a new line, and keys without text add nothing", () => {
  expect(type(withText("a"), { name: "return", meta: true, sequence: "\u001b\r" }).text).toBe(
    "a\n",
  );
  expect(type(withText("a"), { name: "f5", sequence: "\u001b[15~" }, control("x")).text).toBe("a");
});
