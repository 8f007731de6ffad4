// skill_save: an agent stores what it learned for later sessions.
import type { StoredSkill } from "../../../core/skills/skill.ts";
import {
  ToolError,
  type Tool,
  type ToolCallContext,
  type ToolInput,
} from "../../../core/tools/tool.ts";
import type { SkillActivationRegistry } from "../../../core/skills/skill-registry.ts";
import type { SkillStore } from "../../files/skills/skill-store.ts";
import type { EmitInCall } from "../dispatch/tool-trace.ts";
import { textOf, toObjectDefinition } from "../scoped-tool.ts";

/** For all skill tools. */
export interface SkillToolOptions {
  /** Null if a session has no skills; loading then says so. */
  readonly store: SkillStore | null;
  readonly registry: SkillActivationRegistry;
  /** If it throws, the search or load did not happen. */
  readonly emit?: (...given: Parameters<EmitInCall>) => unknown;
}

export function saveSkillTool({ store, emit }: SkillToolOptions): Tool {
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
