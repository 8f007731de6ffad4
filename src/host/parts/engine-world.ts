// The world of the sessions of `openEngine`: what its options say, with or without a folder.
import type { Redact } from "../../core/events/redact-secrets.ts";
import type { AgentProfile } from "../../core/layers/agent-profile.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import { StrataError } from "../../core/strata-error.ts";
import { findToolset, type Toolset } from "../../core/tools/toolsets.ts";
import type { EventBus } from "../../edge/events/event-bus.ts";
import type { WorkspaceCache } from "../../edge/files/workspace/workspace-cache.ts";
import type { Confirm } from "../../edge/tools/dispatch/confirmation.ts";
import { createDispatcher } from "../../edge/tools/dispatch/dispatcher.ts";
import type { ScopedTool } from "../../edge/tools/scoped-tool.ts";
import { createWorldProfile } from "../../engine/world/world-profile.ts";
import { openWorkspaceWorld } from "../../engine/world/workspace-world.ts";
import type { MemoryProvider, World, WorldOwner } from "../../engine/world/world.ts";

/** What an agent is told, and what it may use. */
export interface EngineWorldOptions extends AgentProfile {
  /** Made with `defineTool`. */
  readonly tools?: readonly ScopedTool[];
  /** Called before tools with strong side effects; without it they run. */
  readonly confirm?: Confirm;
  /** A folder whose documents, memory and skills are part of the prompt; none by default. */
  readonly workspace?: string;
  /** Which of Strata's tools for the folder it has; `read-only` by default. Commands are never run. */
  readonly toolset?: string | Toolset;
  /** The only skills of the folder that it can see and load; all by default. */
  readonly skills?: readonly string[];
  /** A memory outside the folder; none by default. */
  readonly memoryProvider?: MemoryProvider;
}

export interface EngineWorldDeps {
  readonly ledger: Ledger;
  readonly events: EventBus;
  readonly redact: Redact;
  readonly documents: WorkspaceCache;
  readonly onNotice: (notice: string) => void;
}

export function openEngineWorld(
  options: EngineWorldOptions,
  deps: EngineWorldDeps,
): (owner: WorldOwner) => Promise<World> {
  const { tools = [], confirm, workspace, memoryProvider } = options;
  const { events, redact, onNotice } = deps;
  if (workspace === undefined) {
    requireFolder(options);
    const asking = confirm === undefined ? {} : { confirm };
    const dispatcher = createDispatcher({ tools, events, redact, ...asking });
    return (owner) => {
      const of = { owner, memoryProvider, onNotice, now: Date.now };
      const own = createWorldProfile({ profile: () => options, ...of });
      return Promise.resolve({
        context: () => own.context(),
        tools: dispatcher,
        volatile: (session) => own.forNextCall(session),
        environmentFor: (scope) => own.environmentFor(scope),
      });
    };
  }
  const { toolset = "read-only", skills } = options;
  return openWorkspaceWorld({
    ...deps,
    workspace,
    settings: {
      profile: options,
      ...(skills === undefined ? {} : { skills: { only: skills } }),
      tools: { toolset: typeof toolset === "string" ? findToolset(toolset) : toolset },
    },
    tools: () => tools,
    confirm: confirm ?? (() => Promise.resolve(true)),
    ...(memoryProvider === undefined ? {} : { memoryProvider }),
  });
}

/** These are read from the folder. */
function requireFolder({ documents, dailyNotes, skills, toolset }: EngineWorldOptions): void {
  const given = Object.entries({ documents, dailyNotes, skills, toolset });
  const [name] = given.find(([, value]) => value !== undefined) ?? [];
  if (name === undefined) return;
  const message = `the option ${name} is about a folder, and there is none`;
  throw new StrataError("input-invalid", message, `give \`workspace\`, or leave out ${name}`);
}
