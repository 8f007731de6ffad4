// The world of a parent or a sub-agent: the same world with more tools or with fewer.
import type { Message } from "../../core/message/message.ts";
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
      return mark === null
        ? context
        : { ...context, notes: { ...context.notes, [markName]: { ...mark } } };
    },
    tools,
    volatile: (session) => inner.volatile?.(session) ?? Promise.resolve([]),
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
  return {
    toolsFor: (as) => {
      const base = role === "worker" ? allowed : offered(as);
      return withTools(base, [...(delegate === null ? [] : [delegate]), ...shownTools]);
    },
    runAll: async (uses, context) => {
      const outer = uses.filter(({ name }) => inner.tools === undefined || !isInner(name));
      const rest = uses.filter((use) => !outer.includes(use));
      // Each catches its own errors: a failure of one must not lose the other's answers.
      const [answered, others] = await Promise.all([
        answerTools(outer, (asked, of) => own.runAll(asked, of), context),
        answerTools(rest, (asked, of) => inner.tools?.runAll(asked, of) ?? none, context),
      ]);
      const [ours, theirs] = [answered.values(), others.values()];
      return uses.flatMap((use) => {
        const { value } = (outer.includes(use) ? ours : theirs).next();
        return value === undefined ? [] : [value];
      });
    },
  };
}

const none: Promise<readonly Message[]> = Promise.resolve([]);

const nothing: RoleTools = { tools: [], permissions: [], toolsLeft: [] };

/** Never adds a permission. */
function narrow(given: RoleTools, toolset: Toolset): RoleTools {
  const granted = toolset.granted.filter((permission) => given.permissions.includes(permission));
  const { tools: offered, toolsLeft } = given;
  const narrowed = selectFromToolset({ offered, toolset: { ...toolset, granted }, role: "worker" });
  return { ...narrowed, toolsLeft: [...toolsLeft, ...narrowed.toolsLeft] };
}

function withTools({ tools, permissions, toolsLeft }: RoleTools, more: readonly Tool[]): RoleTools {
  if (more.length === 0) return { tools, permissions, toolsLeft };
  const all = [...tools, ...more].toSorted((left, right) =>
    left.definition.name < right.definition.name ? -1 : 1,
  );
  return { tools: all, permissions, toolsLeft };
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
