// Goal: `npm start` shows the same session everywhere, with the figures of its ledger. Method: the guide
// itself, on the simulator over loopback and a ledger in memory; what it prints is read as a person would.
import { beforeAll, describe, expect, test } from "vitest";
import { runGuide } from "../../scripts/start/guide.ts";
import { createPacedOutput } from "../../scripts/start/paced-output.ts";
import { resolveModel } from "../../src/core/models/resolve-model.ts";
import { loadO200k } from "../../src/core/tokens/o200k/counter.ts";

async function guide(colours = false): Promise<string> {
  let out = "";
  await runGuide({
    model: resolveModel("claude-sonnet-5-5").facts,
    counter: await loadO200k(),
    out: (text) => (out += text),
    isWatched: false,
    colours,
    width: 120,
  });
  return out;
}

/** What a line says after its name. */
function fact(out: string, name: string): string {
  return new RegExp(`^${name}  +(.*)$`, "m").exec(out)?.[1] ?? "";
}

describe("the guided session", () => {
  let out = "";
  beforeAll(async () => {
    out = await guide();
  });

  test("is short, and shows the input, the tools and the figures after each turn", () => {
    expect(out.split("\n").length).toBeLessThan(90);
    const typed = out.split("\n").filter((line) => line.startsWith("> "));
    expect(typed).toEqual([
      "> What is in this folder?",
      "> /context",
      "> Where are the greetings?",
      "> What is planned next?",
      "> /cost",
    ]);
    expect(out.match(/^ {2}✓ (?:glob|read) /gm)?.length).toBeGreaterThan(5);
    expect(
      out.match(
        /^\d.* cached · (?:lost \S+ \w+ \w+ · )?\$0\.\d+ · saved \$0\.\d+ · .*simulated$/gm,
      ),
    ).toHaveLength(3);
    expect(out).not.toMatch(/\u001b/); // oxlint-disable-line no-control-regex
  });

  test("is the same every time it runs", async () => {
    expect(await guide()).toBe(out);
  });

  test("has colours where they are requested", async () => {
    expect(await guide(true)).toMatch(/\u001b\[1m> What is in this folder\?/); // oxlint-disable-line no-control-regex
  });

  test("costs without caching what its own figures say it would", () => {
    const without = fact(out, "without a cache");
    expect(without).toMatch(/^\$0\.\d{4}$/);
    expect(fact(out, "again")).toContain(`with caching off the same session costs ${without},`);
    const [, ofUsd = ""] = /^saved +\$\S+ of \$([\d.]+),/m.exec(out) ?? [];
    expect(`$${Number(ofUsd).toFixed(4)}`).toBe(without);
  });

  test("reports which marker was hit, what was kept, and what a miss cost and why", () => {
    expect(fact(out, "hits")).toBe(
      "6 up to the 5m tail of the call before, 1 up to the 1h step; 9 of 9 calls read what was planned",
    );
    expect(fact(out, "kept")).toMatch(
      /^call 1 wrote [\d,]+ tokens once; the next 5 calls read them$/,
    );
    expect(fact(out, "misses")).toMatch(
      /^1, lifetime expired: [\d,]+ tokens that had been sent before were not read, \$0\.\d+ lost$/,
    );
    expect(out).toMatch(/ {3}2 .* after 30 min: read up to the 1h step$/m);
    expect(out).toMatch(/ {3}3 .* lifetime expired after 180 min: all is written again$/m);
  });
});

test("on a terminal, keys appear one by one and nothing is lost", async () => {
  const pieces: string[] = [];
  const { write, seen } = createPacedOutput((piece) => void pieces.push(piece));
  write("> hi\nline\n");
  write("more\n");
  await seen();
  expect(pieces).toEqual(["> ", "h", "i", "\n", "line\n", "more\n"]);
});
