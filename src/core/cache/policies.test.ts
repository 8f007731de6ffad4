import { expect, test } from "vitest";
import { findPolicy, listPolicies } from "./policies.ts";
import { policyNames } from "./policy.ts";

test("every policy is found by its name and says in a line what it does", () => {
  for (const name of policyNames) {
    const policy = findPolicy(name);
    expect(policy.name).toBe(name);
    expect(policy.summary).toMatch(/^[^\n]{5,120}$/);
  }
  expect(listPolicies().map(({ name }) => name)).toEqual(policyNames);
});

test("an unknown name is an error with the nearest names", () => {
  expect(() => findPolicy("adaptiv")).toThrow(
    expect.objectContaining({
      code: "usage",
      message: 'there is no policy "adaptiv"',
      hint: "did you mean adaptive?",
    }),
  );
});

test("a name like none of them gets the whole list", () => {
  expect(() => findPolicy("qqqqqqqqqqqq")).toThrow(
    expect.objectContaining({
      hint: "choose one of adaptive, metis, nexo, hermes, nexus, tail-5m, tail-1h, automatic, latest-user, last-n, system-only, none",
    }),
  );
});

test("our own policy keeps volatile text behind everything that is stored and pads only where it pays", () => {
  expect(findPolicy("adaptive").layout).toEqual({
    systemBlocks: "by stability",
    volatile: "message-tail",
    padding: "off",
    toolOrder: "sorted",
  });
});

test("the layouts Strata began with are kept to the letter (C-1)", () => {
  expect(findPolicy("metis")).toMatchObject({
    layout: { systemBlocks: "one", volatile: "system-tail", padding: "always", toolOrder: "given" },
    markers: {
      rules: [
        { place: { at: "last stable system block" }, lifetime: "5m" },
        { place: { at: "tail" }, lifetime: "5m" },
        { place: { at: "last tool" }, lifetime: "5m" },
      ],
    },
  });
  expect(findPolicy("nexo")).toMatchObject({
    layout: { systemBlocks: "labelled", volatile: "system-tail", toolOrder: "sorted" },
    markers: {
      rules: [
        { place: { at: "last stable system block" }, lifetime: "1h" },
        { place: { at: "system block", label: "channel_meta" }, lifetime: "5m" },
        { place: { at: "last tool" }, lifetime: "1h" },
      ],
    },
  });
});
