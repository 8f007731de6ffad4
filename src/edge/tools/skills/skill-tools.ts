// The tools with which an agent finds, reads and saves skills.
import { didYouMean } from "../../../core/nearest-names.ts";
import { toLoadedPayload } from "../../../core/skills/activation-events.ts";
import { skillLoadName } from "../../../core/skills/recover-activations.ts";
import { searchSkills, type SkillSearch } from "../../../core/skills/search-skills.ts";
import { skillFileName, type StoredSkill } from "../../../core/skills/skill.ts";
import {
  toLoadedPointer,
  toLoadedText,
  toPreactivatedPointer,
} from "../../../core/skills/skill-texts.ts";
import {
  ofStrata,
  ToolError,
  type Tool,
  type ToolCallContext,
  type ToolOutput,
} from "../../../core/tools/tool.ts";
import type { SkillStore } from "../../files/skills/skill-store.ts";
import { textOf, toObjectDefinition } from "../scoped-tool.ts";
import { saveSkillTool, type SkillToolOptions } from "./skill-save.ts";

export function skillTools(options: SkillToolOptions): readonly Tool[] {
  return [searchTool(options), loadTool(options), saveSkillTool(options)].map(ofStrata);
}

function searchTool({ store, emit }: SkillToolOptions): Tool {
  return {
    definition: toObjectDefinition(
      "skill_search",
      "Finds skills by words of their name or description. A blank query lists all. Read one with skill_load before you use it.",
      {
        query: { type: "string", description: "What to look for; may be empty." },
        limit: { type: "integer", minimum: 1, maximum: 50, default: 10 },
      },
      ["query"],
    ),
    needs: ["skills.read"],
    sideEffects: "read",
    run: async (input, call) => {
      const query = textOf(input, "query");
      const limit = limitOf(input["limit"]);
      const found = searchSkills(store?.snapshot.skills ?? [], query, limit);
      const names = found.matches.map(({ skill }) => skill.name);
      const payload = { query, results_count: names.length, result_skill_ids: names };
      emit?.({ type: "skill.search", payload }, call);
      return {
        text: renderSearch(query, found),
        metadata: { query, result_count: names.length, result_names: names },
      };
    },
  };
}

function limitOf(given: unknown): number {
  return typeof given === "number" ? Math.min(50, Math.max(1, Math.trunc(given))) : 10;
}

function renderSearch(query: string, found: SkillSearch<StoredSkill>): string {
  const { matches, total, byWord, wordsLeftOut } = found;
  const cut = wordsLeftOut === 0 ? [] : [`(${wordsLeftOut} more words were not looked for)`];
  if (total === 0) {
    const none =
      query.trim() === ""
        ? "There are no skills."
        : `No skill has "${toShort(query.trim())}" in its name or description. A blank query lists all.`;
    return [none, ...cut].join("\n");
  }
  const lines = matches.map(({ skill: { name, source, description } }) => {
    return `- ${name} (${source}): ${description.trim().replace(/\s+/g, " ")}`;
  });
  const head = byWord ? ["No skill has the whole query; these have words of it:"] : [];
  const rest = total - matches.length;
  const tail = rest === 0 ? [] : [`(${rest} more; raise the limit or be more exact)`];
  return [...head, ...lines, ...tail, ...cut].join("\n");
}

function toShort(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 200).toWellFormed()}…`;
}

function loadTool(options: SkillToolOptions): Tool {
  return {
    definition: toObjectDefinition(
      skillLoadName,
      "Reads a skill: its instructions are the result. With file, reads a text file of the skill's folder instead, such as references/forms.md.",
      {
        name: { type: "string", minLength: 1, maxLength: 64, description: "The exact name." },
        file: { type: "string", minLength: 1, description: "A path in the skill's folder." },
      },
      ["name"],
    ),
    needs: ["skills.read"],
    sideEffects: "read",
    // A shortened body would count as loaded.
    outputBytesMax: 524_288,
    run: async (input, call) => {
      const name = textOf(input, "name");
      const { store } = options;
      if (store === null) throw new ToolError("execution_error", "this session has no skills");
      const skill = store.snapshot.find(name);
      if (skill === undefined) throw unknownSkill(name, store);
      const file = input["file"];
      // Its body by another name still counts as its body.
      if (typeof file !== "string" || isSkillFile(file)) return loadBody(skill, options, call);
      return loadFile(store, skill, file);
    },
  };
}

/** In any case: some file systems ignore case. */
function isSkillFile(path: string): boolean {
  const names = path.split(/[/\\]/).filter((name) => name !== "" && name !== ".");
  return names.length === 1 && names[0]?.toLowerCase() === skillFileName.toLowerCase();
}

function loadBody(
  skill: StoredSkill,
  { registry, emit }: SkillToolOptions,
  call: ToolCallContext,
): ToolOutput {
  const plan = registry.plan(skill, call.toolUseId);
  const about = { skill_id: skill.name, skill_version: skill.version, source: skill.source };
  switch (plan.kind) {
    case "preactivated":
      return {
        text: toPreactivatedPointer(skill),
        metadata: { ...about, already_preloaded: true },
      };
    case "loaded before":
      return {
        text: toLoadedPointer(skill, plan.earlier),
        metadata: { ...about, already_loaded: true },
      };
    case "refused":
      throw new ToolError("execution_error", plan.reason);
    case "load":
      emit?.({ type: "skill.loaded", payload: toLoadedPayload(skill, call.toolUseId) }, call);
      registry.adopt(plan);
      return {
        text: toLoadedText(skill),
        metadata: { ...about, load_size_tokens: skill.sizeTokens },
      };
  }
}

async function loadFile(store: SkillStore, skill: StoredSkill, file: string): Promise<ToolOutput> {
  const text = await store.readFile(skill, file);
  const { name, source } = skill;
  return {
    text: `# File ${file} of skill ${name}\n\n${text}`,
    metadata: { skill_id: name, source, file },
  };
}

function unknownSkill(name: string, { snapshot }: SkillStore): ToolError {
  const names = snapshot.skills.map((skill) => skill.name);
  const problem = snapshot.problems.find(({ folder }) => folder.split("/").at(-1) === name);
  const advice =
    problem !== undefined
      ? `its SKILL.md is invalid: ${problem.message} [${problem.rule}]`
      : didYouMean(name, names, "look for one with skill_search");
  return new ToolError("not_found", `there is no skill ${JSON.stringify(name)}: ${advice}`);
}
