// skill_save: an agent stores what it learned for later sessions.
import type { PayloadOf } from "../../../core/events/event.ts";
import { toToolDefinition, type ToolDefinition } from "../../../core/message/tool-definition.ts";
import type { StoredSkill } from "../../../core/skills/skill.ts";
import {
  ToolError,
  type Tool,
  type ToolCallContext,
  type ToolInput,
} from "../../../core/tools/tool.ts";
import { textOf } from "../scoped-tool.ts";
import type { SkillToolOptions } from "./skill-tool-options.ts";

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
      const isTold = emitCreated(saved, call, emit);
      const hides = store.snapshot.find(name)?.source === "global";
      const note = hides ? " It takes the place of the global skill of that name." : "";
      return {
        text: `Saved skill ${name} in ${folder}. Sessions that begin from now on have it.${note}`,
        filesModified: [`${folder}/SKILL.md`],
        metadata: {
          skill_id: name,
          skill_version: version,
          size_tokens: sizeTokens,
          ...(isTold ? {} : { events_not_taken: true }),
        },
      };
    },
  };
}

const definition: ToolDefinition = toToolDefinition({
  name: "skill_save",
  description:
    "Keeps instructions as a new skill of this workspace, for sessions that begin later. A skill that is there is not replaced.",
  inputSchema: {
    type: "object",
    properties: {
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
    required: ["name", "description", "body"],
    additionalProperties: false,
  },
});

/** False if the event was refused. The file stays written, and a failed tool would say otherwise. */
function emitCreated(
  saved: StoredSkill,
  call: ToolCallContext,
  emit: SkillToolOptions["emit"],
): boolean {
  try {
    emit?.({ type: "skill.modified", payload: toCreatedPayload(saved) }, call);
    return true;
  } catch {
    return false;
  }
}

function toCreatedPayload({ name, version }: StoredSkill): PayloadOf<"skill.modified"> {
  return {
    skill_id: name,
    source: "workspace",
    operation: "created",
    before_version: null,
    after_version: version,
  };
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
