// The world of a parent or a sub-agent: the same world with more tools or with fewer.
import type { Message, ToolUseBlock } from "../../core/message/message.ts";
import type { AgentRole } from "../../core/message/assembled-context.ts";
import { ToolError, type Tool } from "../../core/tools/tool.ts";
import { selectFromToolset, type RoleTools, type Toolset } from "../../core/tools/toolsets.ts";
import { createDispatcher, type Dispatcher } from "../../edge/tools/dispatch/dispatcher.ts";
import { toObjectDefinition } from "../../edge/tools/scoped-tool.ts";
import { answerTools } from "../turn/answer-tools.ts";
import { markName, type SubAgentMark } from "./delegation.ts";
import type { Emitter } from "../events/turn-emitter.ts";
import type { World } from "../world/world.ts";

/** The tools of a world, and how they run. */
export type WorldTools = NonNullable<World["tools"]>;

export interface ToolsToWrap {
  readonly inner: World;
  readonly role: AgentRole;
  /** Null for an agent that is not a sub-agent. */
  readonly mark: SubAgentMark | null;
  /** The toolsets that limit a sub-agent. */
  readonly toolsets: readonly Toolset[];
  /** The tool that starts sub-agents; null if it may not. */
  readonly delegate: Tool | null;
  /** Tools in a fork's foundation that the fork may not use. */
  readonly shownTools: readonly Tool[];
  readonly atOnceMax: number;
  readonly events: Emitter | undefined;
}

export function wrapWorld(inner: World, mark: SubAgentMark | null, tools: WorldTools): World {
  const { skills } = inner;
  return {
    context: async () => {
      const context = await inner.context();
      if (mark === null) return context;
      const { parts, notes } = context;
      // The agent may do without the rules of its own role; a sub-agent needs those of a worker.
      const ruled = { ...parts, roleRules: true };
      return { ...context, parts: ruled, notes: { ...notes, [markName]: { ...mark } } };
    },
    tools,
    volatile: (session) => inner.volatile?.(session) ?? Promise.resolve([]),
    environmentFor: (scope) => inner.environmentFor?.(scope) ?? Promise.resolve(null),
    ...(skills === undefined ? {} : { skills }),
    close: () => inner.close?.() ?? Promise.resolve(),
  };
}

/**
 * A worker sees only the tools it may use. A fork sees its origin's tools, because it shares its origin's prefix;
 * a use of a tool that a worker may not use is refused.
 */
export function wrapTools(wrapped: ToolsToWrap): WorldTools {
  const { inner, role, mark, delegate, shownTools } = wrapped;
  const offered = (as: AgentRole): RoleTools => inner.tools?.toolsFor(as) ?? nothing;
  const allowed =
    mark === null ? offered(role) : wrapped.toolsets.reduce(narrow, offered("worker"));
  const names = new Set(allowed.tools.map(({ definition }) => definition.name));
  const refused = [...offered(role).tools, ...shownTools]
    .map(({ definition }) => definition.name)
    .filter((name) => !names.has(name) && name !== delegate?.definition.name);
  const own = ownDispatcher(wrapped, refused);
  const isInner = (name: string): boolean =>
    mark === null ? name !== delegate?.definition.name : names.has(name);
  let replyNumber = 0;
  return {
    toolsFor: (as) => {
      const base = role === "worker" ? allowed : offered(as);
      return withTools(base, [...(delegate === null ? [] : [delegate]), ...shownTools]);
    },
    runAll: async (uses, context) => {
      replyNumber += 1;
      const call = { replyNumber, ...context };
      const answers: Message[] = [];
      // Results keep the order of the reply. A failure of one tool must not lose the answers of the others.
      for (const { isOurs, asked } of split(uses, isInner)) {
        const tools = isOurs || inner.tools === undefined ? own : inner.tools;
        answers.push(...(await answerTools(asked, (each, of) => tools.runAll(each, of), call)));
      }
      return answers;
    },
  };
}

interface Stretch {
  readonly isOurs: boolean;
  readonly asked: ToolUseBlock[];
}

/** Uses that follow each other and belong to the same tools. */
function split(
  uses: readonly ToolUseBlock[],
  isInner: (name: string) => boolean,
): readonly Stretch[] {
  const stretches: Stretch[] = [];
  for (const use of uses) {
    const isOurs = !isInner(use.name);
    const last = stretches.at(-1);
    if (last?.isOurs === isOurs) last.asked.push(use);
    else stretches.push({ isOurs, asked: [use] });
  }
  return stretches;
}

const nothing: RoleTools = { tools: [], permissions: [], toolsLeft: [] };

/** Never adds a permission. */
function narrow(given: RoleTools, toolset: Toolset): RoleTools {
  const granted = toolset.granted.filter((permission) => given.permissions.includes(permission));
  const { tools: offered, toolsLeft } = given;
  const narrowed = selectFromToolset({ offered, toolset: { ...toolset, granted }, role: "worker" });
  return { ...narrowed, toolsLeft: [...toolsLeft, ...narrowed.toolsLeft] };
}

function withTools(given: RoleTools, more: readonly Tool[]): RoleTools {
  if (more.length === 0) return given;
  const all = [...given.tools, ...more].toSorted((left, right) =>
    left.definition.name < right.definition.name ? -1 : 1,
  );
  return { ...given, tools: all };
}

/** Runs the tool that starts sub-agents and refuses forbidden tools, with the events and limits of any tool. */
function ownDispatcher(
  { mark, delegate, atOnceMax, events }: ToolsToWrap,
  refused: readonly string[],
): Dispatcher {
  const active = delegate === null ? [] : [delegate];
  return createDispatcher({
    tools: [...active, ...[...new Set(refused)].map(toRefused)],
    toolset: {
      name: mark === null ? "delegation" : `of a ${mark.kind}`,
      granted: [],
      tools: active.map(({ definition }) => definition.name),
    },
    limits: { atOnceMax },
    ...(events === undefined ? {} : { events }),
  });
}

function toRefused(name: string): Tool {
  return {
    definition: toObjectDefinition(name, "Not for sub-agents.", {}, []),
    needs: [],
    sideEffects: "none",
    run: () => Promise.reject(new ToolError("permission_denied", "not for sub-agents")),
  };
}
