import { expect, test } from "vitest";
import type { Message } from "../message/message.ts";
import { planActivation } from "./activation.ts";
import { recoverActivations } from "./recover-activations.ts";
import { toLoadedPointer, toLoadedText, toPreactivatedPointer } from "./skill-texts.ts";
import { readSkill } from "./read-skill.ts";
import type { StoredSkill } from "./skill.ts";

const pdf = skill("pdf", "Fill the form.");
const mail = skill("mail", "Ask before you send.");

const history: readonly Message[] = [
  ...use("use-1", "skill_load", toLoadedText(pdf)),
  ...use("use-2", "read", toLoadedText(mail)),
  ...use("use-3", "skill_load", toLoadedText(mail), true),
  ...use("use-4", "skill_load", toPreactivatedPointer(mail)),
  ...use("use-5", "skill_load", toLoadedPointer(pdf, { ...pdf, toolUseId: "use-1" })),
];

test("a history says which bodies are in it: those that skill_load gave", () => {
  expect(recoverActivations(history, [mail])).toEqual({
    preactivated: [{ name: "mail", version: mail.version }],
    loaded: [{ name: "pdf", version: pdf.version, sizeTokens: 3, toolUseId: "use-1" }],
    hasWarned: false,
  });
});

test("after a compaction the body is not there, and is given again (C-10)", () => {
  expect(planActivation(recoverActivations(history), pdf, "use-6").kind).toBe("loaded before");
  expect(planActivation(recoverActivations(history.slice(2)), pdf, "use-6").kind).toBe("load");
});

test("a body that was cut on its way does not count as loaded", () => {
  const cut = use("use-1", "skill_load", toLoadedText(pdf).slice(0, -3));
  expect(recoverActivations(cut).loaded).toEqual([]);
});

function skill(name: string, body: string): StoredSkill {
  const reading = readSkill(`---\nname: ${name}\ndescription: x\n---\n${body}`, name);
  if (reading.skill === null) throw new Error("the example is wrong");
  return { ...reading.skill, source: "workspace", folder: name };
}

function use(id: string, name: string, text: string, isError = false): readonly Message[] {
  return [
    { role: "assistant", content: [{ type: "tool_use", id, name, inputJson: "{}" }] },
    {
      role: "tool",
      content: [{ type: "tool_result", toolUseId: id, content: [{ type: "text", text }], isError }],
    },
  ];
}
