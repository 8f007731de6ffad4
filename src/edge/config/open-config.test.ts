import {
  appendFileSync,
  closeSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openConfig, type LiveConfig } from "./open-config.ts";

let folder = "";
let path = "";
let reported: string[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "strata-live-"));
  path = join(folder, "strata.yaml");
  reported = [];
});
afterEach(() => rmSync(folder, { recursive: true }));

const withPolicy = (policy: string): string => `policies: { default: ${policy} }\n`;

function open(paths: readonly string[] = [path], isNamed = true): Promise<LiveConfig> {
  return openConfig({
    files: paths.map((each) => ({ path: each, isFound: false, isNamed })),
    env: {},
    onProblem: ({ message }) => void reported.push(message.replaceAll(`${folder}/`, "")),
  });
}

async function policyOf(live: LiveConfig): Promise<string> {
  return (await live.current()).policies.default;
}

describe("a change holds from the next question on", () => {
  test("when the file is replaced by renaming", async () => {
    writeFileSync(path, withPolicy("nexo"));
    const live = await open();
    expect(await policyOf(live)).toBe("nexo");
    writeFileSync(`${path}.new`, withPolicy("none"));
    renameSync(`${path}.new`, path);
    expect(await policyOf(live)).toBe("none");
    expect(reported).toEqual([]);
  });

  test("when it is written in place, also with the same length", async () => {
    writeFileSync(path, withPolicy("nexo"));
    const live = await open();
    for (const policy of ["none", "nexo", "none", "nexo"]) {
      writeFileSync(path, withPolicy(policy));
      expect(await policyOf(live)).toBe(policy);
    }
  });

  test("when the times on disk are put back to what they were", async () => {
    writeFileSync(path, withPolicy("nexo"));
    const past = new Date(Date.now() - 3_600_000);
    utimesSync(path, past, past);
    const live = await open();
    await live.current();
    writeFileSync(path, withPolicy("none"));
    utimesSync(path, past, past);
    expect(await policyOf(live)).toBe("none");
  });

  test("when a link is set to another file", async () => {
    const [one, two] = [join(folder, "one.yaml"), join(folder, "two.yaml")];
    writeFileSync(one, withPolicy("nexo"));
    writeFileSync(two, withPolicy("none"));
    symlinkSync(one, path);
    const live = await open();
    symlinkSync(two, `${path}.new`);
    renameSync(`${path}.new`, path);
    expect(await policyOf(live)).toBe("none");
  });

  test("when a file appears that was not there", async () => {
    const live = await open([path], false);
    expect(await policyOf(live)).toBe("adaptive");
    writeFileSync(path, withPolicy("none"));
    expect(await policyOf(live)).toBe("none");
  });

  test("for compaction as well, and for a single agent (N-06)", async () => {
    writeFileSync(path, "context_optimization: { compaction: { enabled: false } }\n");
    const live = await open();
    expect((await live.current()).compaction.isEnabled).toBe(false);
    writeFileSync(path, "context_optimization: { compaction: { enabled: true } }\n");
    expect((await live.current()).compaction.isEnabled).toBe(true);
    writeFileSync(path, "agents: { ana: { context_optimization: { compaction: true } } }\n");
    expect((await live.current()).agents.get("ana")?.switches.compaction).toBe(true);
  });

  test("and without one the same object is given", async () => {
    writeFileSync(path, withPolicy("nexo"));
    const live = await open();
    const first = await live.current();
    expect(await live.current()).toBe(first);
    writeFileSync(path, withPolicy("nexo"));
    expect(await live.current()).toBe(first);
  });
});

describe("what is broken leaves what was there", () => {
  test("and is reported once for each change", async () => {
    writeFileSync(path, withPolicy("nexo"));
    const live = await open();
    writeFileSync(path, "policies: [");
    expect(await policyOf(live)).toBe("nexo");
    expect(await policyOf(live)).toBe("nexo");
    expect(reported).toHaveLength(1);
    expect(reported[0]).toMatch(
      /^strata\.yaml:1:\d+: not YAML: .*\nwhat was configured before still holds$/,
    );
    writeFileSync(path, "polices: {}");
    expect(await policyOf(live)).toBe("nexo");
    expect(await policyOf(live)).toBe("nexo");
    expect(reported.slice(1)).toEqual([
      "strata.yaml:1:1: polices is not a setting\nwhat was configured before still holds",
    ]);
    writeFileSync(path, withPolicy("none"));
    expect(await policyOf(live)).toBe("none");
    expect(reported).toHaveLength(2);
  });

  test("when a file is cut off in the middle", async () => {
    writeFileSync(path, "policies: { default: nexo }\nagents: { ana: { policy: none } }\n");
    const live = await open();
    truncateSync(path, 45);
    expect((await live.current()).agents.get("ana")?.policy).toBe("none");
    expect(reported).toHaveLength(1);
  });

  test("when a file is emptied: that is an accident", async () => {
    writeFileSync(path, withPolicy("nexo"));
    const live = await open();
    truncateSync(path, 0);
    expect(await policyOf(live)).toBe("nexo");
    expect(await policyOf(live)).toBe("nexo");
    expect(reported).toEqual([
      "strata.yaml:1:1: the file is empty now\nwhat was configured before still holds",
    ]);
    writeFileSync(path, "# nothing on purpose\n");
    expect(await policyOf(live)).toBe("adaptive");
  });

  test("when a file is deleted, until it is back", async () => {
    writeFileSync(path, withPolicy("nexo"));
    const live = await open();
    rmSync(path);
    expect(await policyOf(live)).toBe("nexo");
    expect(await policyOf(live)).toBe("nexo");
    expect(reported).toEqual([
      "strata.yaml:1:1: the file is gone\nwhat was configured before still holds",
    ]);
    writeFileSync(path, withPolicy("none"));
    expect(await policyOf(live)).toBe("none");
    expect(reported).toHaveLength(1);
  });

  test("of one file while others go on changing", async () => {
    const other = join(folder, "other.yaml");
    writeFileSync(path, withPolicy("nexo"));
    writeFileSync(other, "skills: { skills_max: 5 }\n");
    const live = await open([path, other]);
    writeFileSync(path, "policies: 7\n");
    await live.current();
    writeFileSync(other, "skills: { skills_max: 6 }\n");
    const { policies, skills } = await live.current();
    expect([policies.default, skills.skillsMax]).toEqual(["nexo", 6]);
    expect(reported).toHaveLength(1);
  });

  test("when files contradict each other only together", async () => {
    const other = join(folder, "other.yaml");
    writeFileSync(path, "skills: { tokens_max: 20000 }\n");
    writeFileSync(other, "skills: { tokens_advised: 10000 }\n");
    const live = await open([path, other]);
    writeFileSync(other, "skills: { tokens_advised: 25000 }\n");
    expect((await live.current()).skills.tokensAdvised).toBe(10_000);
    writeFileSync(path, "skills: { tokens_max: 30000 }\n");
    expect((await live.current()).skills.tokensAdvised).toBe(25_000);
    expect(reported).toHaveLength(1);
  });

  test("a first reading that fails is an error with everything in it", async () => {
    writeFileSync(path, "tols: 1\nmodls: 2\n");
    await expect(open()).rejects.toMatchObject({
      code: "config-invalid",
      message: expect.stringContaining("has 2 problems"),
    });
    rmSync(path);
    await expect(open()).rejects.toMatchObject({ code: "not-found" });
  });

  test("a file that cannot be reached is an error at first, and leaves what was there later", async () => {
    symlinkSync(path, path);
    await expect(open()).rejects.toMatchObject({ message: expect.stringContaining("ELOOP") });
    rmSync(path);
    writeFileSync(path, withPolicy("nexo"));
    const live = await open();
    symlinkSync(path, `${path}.new`);
    renameSync(`${path}.new`, path);
    expect(await policyOf(live)).toBe("nexo");
    expect(await policyOf(live)).toBe("nexo");
    expect(reported).toEqual([
      "strata.yaml:1:1: the file cannot be read (ELOOP)\nwhat was configured before still holds",
    ]);
  });

  test("a failing listener ends no turn", async () => {
    writeFileSync(path, withPolicy("nexo"));
    const live = await openConfig({
      files: [{ path, isFound: false, isNamed: true }],
      onProblem: () => {
        throw new Error("no room for logs");
      },
    });
    writeFileSync(path, "[");
    expect(await policyOf(live)).toBe("nexo");
  });
});

test("a file that is being written is read when it is whole", async () => {
  writeFileSync(path, withPolicy("nexo"));
  const live = await open();
  const handle = openSync(path, "w");
  writeSync(handle, "policies: { default: none }\n");
  const asked = live.current();
  await wait(5);
  writeSync(handle, "skills: { skills_max: 8 }\n");
  closeSync(handle);
  const { policies, skills } = await asked;
  expect([policies.default, skills.skillsMax]).toEqual(["none", 8]);
});

test("a warning is reported once, however often the configuration is read", async () => {
  writeFileSync(path, "context_optimization: { token_counter: { backend: llama } }\n");
  const live = await open();
  await live.current();
  appendFileSync(path, "# more\n");
  await live.current();
  expect(reported).toEqual([
    "strata.yaml:1:51: llm.context_optimization.token_counter.backend is not one of auto, anthropic_api, tiktoken, local",
  ]);
});

test("many callers while the file changes: none fails, and each gets the content from when it called", async () => {
  writeFileSync(path, "skills: { skills_max: 0 }\n");
  const live = await open();
  for (let change = 1; change <= 20; change += 1) {
    const isBroken = change % 5 === 0;
    writeFileSync(path, isBroken ? "skills: {" : `skills: { skills_max: ${change} }\n`);
    const seen = await Promise.all(Array.from({ length: 50 }, () => live.current()));
    const expected = isBroken ? change - 1 : change;
    expect(new Set(seen.map(({ skills }) => skills.skillsMax))).toEqual(new Set([expected]));
  }
  expect(reported).toHaveLength(4);
});

test("a question after a change sees it, also while an earlier one is being answered", async () => {
  writeFileSync(path, withPolicy("nexo"));
  const live = await open();
  const earlier = live.current();
  await Promise.resolve();
  writeFileSync(path, withPolicy("none"));
  expect(await policyOf(live)).toBe("none");
  await earlier;
});
