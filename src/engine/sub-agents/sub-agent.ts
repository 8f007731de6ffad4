// Sub-agents: an agent gives a task to a worker or a fork and gets its report.
import { perSource } from "../world/per-source.ts";
import type { AgentRole } from "../../core/message/assembled-context.ts";
import { requireLeasts } from "../../core/tools/check-limits.ts";
import type { Tool } from "../../core/tools/tool.ts";
import { findToolset, toolsets } from "../../core/tools/toolsets.ts";
import { delegatePartTool, delegateTool } from "../../edge/tools/delegate-tool.ts";
import type { EngineDeps } from "../session/engine-deps.ts";
import type { EngineConfig } from "../session/engine-config.ts";
import {
  type Delegation,
  type DelegationOptions,
  findMark,
  type SubAgentMark,
} from "./delegation.ts";
import { createFanOut } from "./fan-out.ts";
import { readReport, type ReportPage } from "./report.ts";
import { delegate } from "./delegate.ts";
import { wrapTools, wrapWorld, type ToolsToWrap } from "./wrap-world.ts";
import { emptyWorld, type World, type WorldOwner } from "../world/world.ts";

/**
 * Deps for `createEngine` with which every session can give tasks to sub-agents. Options that can change
 * are read again: return the same object while they stay the same.
 */
export function withDelegation(
  config: EngineConfig | (() => Promise<EngineConfig>),
  deps: EngineDeps,
  options: DelegationOptions | (() => DelegationOptions) = {},
): EngineDeps {
  const readOptions = typeof options === "function" ? options : () => options;
  checkLimits(readOptions());
  const delegation: Delegation = {
    deps,
    readConfig: typeof config === "function" ? config : () => Promise.resolve(config),
    readOptions,
    fanOut: createFanOut(),
    makeWorld: async (owner, mark) => {
      const inner = deps.world === undefined ? emptyWorld : await deps.world(owner);
      return toWorld(inner, owner, mark, delegation);
    },
  };
  return {
    ...deps,
    world: (owner) => {
      const { session } = owner;
      return delegation.makeWorld(owner, session === undefined ? null : findMark(session));
    },
  };
}

type DelegationLimits = Required<
  Pick<DelegationOptions, "depthMax" | "atOnceMax" | "reportCharactersMax" | "timeoutMs">
>;

export const delegationLimits: DelegationLimits = {
  depthMax: 3,
  atOnceMax: 4,
  reportCharactersMax: 20_000,
  timeoutMs: 3_600_000,
};

function checkLimits(options: DelegationOptions): DelegationLimits {
  const { depthMax, atOnceMax, reportCharactersMax, timeoutMs } = {
    ...delegationLimits,
    ...options,
  };
  const limits = { depthMax, atOnceMax, reportCharactersMax, timeoutMs };
  const leasts = { depthMax: 1, atOnceMax: 1, reportCharactersMax: 100, timeoutMs: 1 };
  requireLeasts("sub-agents", limits, leasts);
  return limits;
}

/** Rebuilds the tools when the options change. */
function toWorld(
  inner: World,
  { role }: WorldOwner,
  mark: SubAgentMark | null,
  delegation: Delegation,
): World {
  const { readOptions, deps } = delegation;
  const tools = perSource(readOptions, (from) =>
    wrapTools({ inner, role, mark, events: deps.events, ...mayOf(role, mark, from, delegation) }),
  );
  return wrapWorld(inner, mark, {
    toolsFor: (as) => tools().toolsFor(as),
    runAll: (uses, context) => tools().runAll(uses, context),
  });
}

function mayOf(
  role: AgentRole,
  mark: SubAgentMark | null,
  options: DelegationOptions,
  delegation: Delegation,
): Pick<ToolsToWrap, "toolsets" | "delegate" | "shownTools" | "atOnceMax"> {
  const { isEnabled = true, nested = false } = options;
  const limits = checkLimits(options);
  const isNested = mark !== null || role === "worker";
  const mayDelegate = isEnabled && (mark?.depth ?? 0) < limits.depthMax && (!isNested || nested);
  const make = role === "worker" ? delegatePartTool : delegateTool;
  const tool = toolOf(make, { mark, options, limits }, delegation);
  return {
    toolsets: (mark?.toolsets ?? []).map((name) => findToolset(name, options.toolsets)),
    delegate: mayDelegate ? tool : null,
    shownTools: mark?.kind === "fork" && !mayDelegate ? [tool] : [],
    atOnceMax: limits.atOnceMax,
  };
}

interface ToolOf {
  readonly mark: SubAgentMark | null;
  readonly options: DelegationOptions;
  readonly limits: DelegationLimits;
}

function toolOf(
  make: typeof delegateTool,
  { mark, options, limits }: ToolOf,
  delegation: Delegation,
): Tool {
  const { reportCharactersMax: charactersMax, atOnceMax, timeoutMs } = limits;
  const names = [...(options.toolsets ?? []), ...toolsets].map(({ name }) => name);
  const tool: Tool = make({
    run: (task, call) => delegate(task, call, { mark, page: pageOf(), options }, delegation),
    readReport: (sessionId, offset, call) =>
      readReport(delegation.deps.ledger, { sessionId, offset }, call, pageOf()),
    toolsets: [...new Set(names)],
    atOnceMax,
    timeoutMs,
    // A character takes at most four bytes.
    outputBytesMax: charactersMax * 4 + 1000,
  });
  const pageOf = (): ReportPage => ({ toolName: tool.definition.name, charactersMax });
  return tool;
}
