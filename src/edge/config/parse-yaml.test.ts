import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toPlain } from "../../core/config/config-node.ts";
import { describeProblem } from "../../core/config/config-problem.ts";
import { readConfig } from "../../core/config/read-config.ts";
import { parseYaml } from "./parse-yaml.ts";

const file = { file: "s.yaml", isFound: false };

function problemsIn(yaml: string): string[] {
  return parseYaml(yaml, file).problems.map(describeProblem);
}

describe("a text that is YAML", () => {
  test("becomes a tree in which every value knows its place", () => {
    const { root, problems } = parseYaml("# words\na:\n  b: [1, two]\n'c d': ~\n", file);
    expect(problems).toEqual([]);
    expect(root && toPlain(root)).toEqual({ a: { b: [1, "two"] }, "c d": null });
    expect(root).toMatchObject({
      entries: [
        {
          key: "a",
          origin: { line: 2, column: 1 },
          node: {
            entries: [
              {
                key: "b",
                origin: { line: 3, column: 3 },
                node: { origin: { line: 3, column: 6 } },
              },
            ],
          },
        },
        { key: "c d", origin: { line: 4, column: 1 } },
      ],
    });
  });

  test.each(["", "\n\n", "# only words\n", "---\n", "---\n# words\n...\n"])(
    "%j says nothing, and is no mistake",
    (yaml) => {
      const { root, problems } = parseYaml(yaml, file);
      expect(problems).toEqual([]);
      expect(root && toPlain(root)).toEqual({});
    },
  );

  test("yes, on and 1_000 are texts, as YAML 1.2 has it", () => {
    const { root } = parseYaml("a: yes\nb: on\nc: 1_000\nd: 0o17\ne: true", file);
    expect(root && toPlain(root)).toEqual({ a: "yes", b: "on", c: "1_000", d: 15, e: true });
  });
});

describe("a text that is refused", () => {
  test.each([
    ["a: 1\nb: 2\na: 3", "s.yaml:3:1: this key is written twice; keep one of the two"],
    [
      "a: 1\n---\nb: 2",
      "s.yaml:2:1: there is a second document; keep one, without a line of --- between",
    ],
    [
      "a: &x 1\nb: *x",
      "s.yaml:1:4: an anchor or an alias (& or *) is not allowed; write the value out, or in quotes",
    ],
    [
      "a: 1\nb:\n  <<: *x",
      "s.yaml:3:7: an anchor or an alias (& or *) is not allowed; write the value out, or in quotes",
    ],
    ["a: !!js/function 'x'", "s.yaml:1:4: a tag (!) is not allowed; leave it out, or use quotes"],
    ["a:\n\tb: 1", "s.yaml:2:1: not YAML: tabs cannot indent; indent with spaces"],
    ["? [a, b]\n: 1", "s.yaml:1:3: the name of a setting must be text; write name: value"],
    ['a: { 1: x, "1": y }', "s.yaml:1:12: this key is written twice; keep one of the two"],
    ["a: 1\nb: {c: 1\nd: 2\n", "s.yaml:2:4: not YAML: this bracket is not closed; close it"],
    ["a: [1, {b: 2}", "s.yaml:1:4: not YAML: this bracket is not closed; close it"],
    ["~: 1", "s.yaml:1:1: the name of a setting must be text; write name: value"],
  ])("%j", (yaml, problem) => {
    expect(problemsIn(yaml)).toContain(problem);
  });

  test("a bracket that is never closed", () => {
    expect(problemsIn("a: [1, 2\nb: 3")).not.toEqual([]);
    expect(parseYaml("a: [1, 2\nb: 3", file).root).toBeNull();
  });

  test("a text that doubles with every alias", () => {
    const bomb = [
      "a: &a [x, x]",
      ..."bcdefghij"
        .split("")
        .map((name, i) => `${name}: &${name} [*${"abcdefghi"[i]}, *${"abcdefghi"[i]}]`),
    ];
    expect(problemsIn(bomb.join("\n"))).toHaveLength(1);
  });

  test.each([
    ["brackets", "[".repeat(100_000)],
    ["dashes", "- ".repeat(100_000)],
    ["braces", "{a: ".repeat(50_000)],
    ["lines", Array.from({ length: 600 }, (_, depth) => `${" ".repeat(depth)}a:`).join("\n")],
  ])("one that is nested very deep by %s, before it is parsed", (_name, yaml) => {
    expect(problemsIn(yaml)).toEqual([expect.stringContaining("nested more than 32 deep")]);
  });

  test.each([
    ["names", "agents:\n", "  a0000: {}\n"],
    ["items", "agents:\n", "  - {}\n"],
    ["names in braces", "agents: {", "a, "],
  ])("one with very many %s, before they are looked at", (_name, begin, each) => {
    const end = begin.endsWith("{") ? "}" : "";
    expect(problemsIn(`${begin}${each.repeat(100_000)}${end}`)).toEqual([
      expect.stringContaining("it has more than 10000 settings; make it smaller"),
    ]);
  });

  test("a key that is written twice does not hide other mistakes", () => {
    const { root, problems } = parseYaml("tols: 1\ntols: 2", file);
    const all = [...problems, ...readConfig({ files: root === null ? [] : [root] }).problems];
    expect(all.map(describeProblem)).toEqual([
      "s.yaml:2:1: this key is written twice; keep one of the two",
      "s.yaml:1:1: tols is not a setting; did you mean tools?",
    ]);
  });

  test("a key in a broken line is not repeated", () => {
    const [problem = ""] = problemsIn("providers: { a: { api_key: sk-planted-12345678");
    expect(problem).not.toContain("planted");
  });
});

test("no text makes it throw, nor what reads the tree", () => {
  const piece = fc.constantFrom(
    ..."abc:-?[]{},&*!|>'\"%@`#~ \n\t".split(""),
    "\n  ",
    "llm:",
    "agents:",
    "- id: x",
    "providers:",
    "---\n",
    "compaction:",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const { root } = parseYaml(pieces.join(""), file);
      const { settings } = readConfig({ files: root === null ? [] : [root] });
      expect(settings.length).toBeGreaterThan(40);
    }),
    { numRuns: 1000 },
  );
});
