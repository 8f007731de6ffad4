import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { toInertJson } from "./cross-section.ts";
import { drawCrossSection, listMisses, summariseSession } from "./in-page.ts";
import { toPageData } from "./page-data.ts";
import { pageScript, type PageElement } from "./page-script.ts";
import { makeCall, makeReport } from "./test-kit.ts";

const { data } = toPageData(makeReport(), [
  makeCall({ sessionId: "one" }),
  makeCall({ sessionId: "two", file: "<b>.jsonl", thread: "a & b" }),
]);

// Goal: the script needs nothing that the page lacks. Method: run its text with only a document.
test("the script draws what was drawn before it ran", () => {
  const page = openPage();
  runInNewContext(pageScript(), page.globals);
  expect(page.html()).toEqual(drawn(0, 1));
  expect(page.elements.get("choices")?.hidden).toBe(false);
});

test("another choice draws another session under another policy", () => {
  const page = openPage();
  runInNewContext(pageScript(), page.globals);
  page.choose("session-choice", "1");
  expect(page.html()).toEqual(drawn(1, 1));
  page.choose("policy-choice", "0");
  expect(page.html()).toEqual(drawn(1, 0));
});

test("the script does not end its element and stays under 200 lines", () => {
  const script = pageScript();
  expect(script).not.toMatch(/<\/script|<!--|\r/i);
  expect(script.split("\n").length).toBeLessThan(200);
});

function drawn(session: number, policy: number): readonly string[] {
  return [
    summariseSession(data, session, policy),
    drawCrossSection(data, session, policy),
    listMisses(data, session, policy),
  ];
}

interface Page {
  readonly globals: object;
  readonly elements: ReadonlyMap<string, PageElement>;
  html(): readonly (string | undefined)[];
  choose(id: string, value: string): void;
}

function openPage(): Page {
  const listeners = new Map<string, () => void>();
  const make = (id: string, value = ""): [string, PageElement] => [
    id,
    {
      value,
      hidden: true,
      innerHTML: "",
      textContent: id === "replay-data" ? toInertJson(data) : null,
      addEventListener: (_type, listener) => void listeners.set(id, listener),
    },
  ];
  const drawings = ["cross-section-summary", "cross-section", "cross-section-misses"];
  const elements = new Map([
    make("replay-data"),
    make("choices"),
    make("session-choice", "0"),
    make("policy-choice", "1"),
    ...drawings.map((id) => make(id)),
  ]);
  return {
    globals: { document: { getElementById: (id: string) => elements.get(id) ?? null } },
    elements,
    html: () => drawings.map((id) => elements.get(id)?.innerHTML),
    choose: (id, value) => {
      const element = elements.get(id);
      if (element !== undefined) element.value = value;
      listeners.get(id)?.();
    },
  };
}
