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
  type ToolInput,
} from "../../../core/tools/tool.ts";
import type { SkillStore } from "../../files/skills/skill-store.ts";
import { textOf, toObjectDefinition } from "../scoped-tool.ts";
import type { SkillActivationRegistry } from "../../../core/skills/skill-registry.ts";
import type { EmitInCall } from "../dispatch/tool-trace.ts";

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

/** For all skill tools. */
interface SkillToolOptions {
  /** Null if a session has no skills; loading then says so. */
  readonly store: SkillStore | null;
  readonly registry: SkillActivationRegistry;
  /** If it throws, the search or load did not happen. */
  readonly emit?: (...given: Parameters<EmitInCall>) => unknown;
}

function saveSkillTool({ store, emit }: SkillToolOptions): Tool {
  return {
    definition,
    needs: ["skills.write"],
    roles: ["manager", "unified"],
    sideEffects: "write",
    requiresWorkspace: true,
    run: async (input, call) => {
      if (store === null) throw new ToolError("execution_error", "this session has no skills");
      if (call.role === "worker")
        throw new ToolError("permission_denied", "workers save no skills");
      const name = textOf(input, "name");
      const [description, body] = [textOf(input, "description"), textOf(input, "body")];
      const saved = await store.save({ name, description, body, metadata: metadataOf(input) });
      const { version, sizeTokens, folder } = saved;
      const isEmitted = emitCreated(saved, call, emit);
      const hides = store.snapshot.find(name)?.source === "global";
      const note = hides ? " It takes the place of the global skill of that name." : "";
      return {
        text: `Saved skill ${name} in ${folder}. Sessions that begin from now on have it.${note}`,
        filesModified: [`${folder}/SKILL.md`],
        metadata: {
          skill_id: name,
          skill_version: version,
          size_tokens: sizeTokens,
          ...(isEmitted ? {} : { events_not_taken: true }),
        },
      };
    },
  };
}

const definition = toObjectDefinition(
  "skill_save",
  "Keeps instructions as a new skill of this workspace, for sessions that begin later. A skill that is there is not replaced.",
  {
    name: {
      type: "string",
      minLength: 1,
      maxLength: 64,
      description: "a to z, 0 to 9, and single hyphens between them.",
    },
    description: {
      type: "string",
      minLength: 1,
      maxLength: 1024,
      description: "What it does and when to use it.",
    },
    body: { type: "string", minLength: 1, description: "The instructions, in Markdown." },
    metadata: { type: "object", description: "Names and short texts." },
  },
  ["name", "description", "body"],
);

/** False if the event was refused. The file stays written, and a failed tool would say otherwise. */
function emitCreated(
  { name, version }: StoredSkill,
  call: ToolCallContext,
  emit: SkillToolOptions["emit"],
): boolean {
  const payload = {
    skill_id: name,
    source: "workspace",
    operation: "created",
    before_version: null,
    after_version: version,
  } as const;
  try {
    emit?.({ type: "skill.modified", payload }, call);
    return true;
  } catch {
    return false;
  }
}

function metadataOf(input: ToolInput): Readonly<Record<string, string>> {
  const given = input["metadata"];
  if (typeof given !== "object" || given === null) return {};
  return Object.fromEntries(
    Object.entries(given).map(([key, value]: [string, unknown]) => {
      if (typeof value === "string") return [key, value];
      if (typeof value === "number" || typeof value === "boolean") return [key, String(value)];
      throw new ToolError("validation_error", `metadata.${key} must be a short text`);
    }),
  );
}
