// Tools in a session's world: one dispatcher, rebuilt when the permissions change.
import { perSource } from "./per-source.ts";
import { messageOf } from "../../core/strata-error.ts";
import type { Tool } from "../../core/tools/tool.ts";
import { findToolset, type Toolset } from "../../core/tools/toolsets.ts";
import type { EventBus } from "../../edge/events/event-bus.ts";
import type { ScopedFiles } from "../../edge/files/guard/scoped-files.ts";
import type { Confirm } from "../../edge/tools/dispatch/confirmation.ts";
import type { DispatcherOptions } from "../../edge/tools/dispatch/dispatch-options.ts";
import { createDispatcher, type Dispatcher } from "../../edge/tools/dispatch/dispatcher.ts";
import {
  createCallEmitter,
  type EmitInCall,
  type SharedChain,
} from "../../edge/tools/dispatch/tool-trace.ts";
import type { ToolSettings } from "./world-settings.ts";

export type WorldTools = Pick<Dispatcher, "toolsFor" | "runAll">;

export interface ToolsOf {
  /** Builds the tools. `emit` lets them emit events. */
  readonly make: (emit: EmitInCall | undefined) => readonly Tool[];
  /** Added to those; the same list until they change. */
  readonly serverTools?: () => readonly Tool[];
  readonly files: ScopedFiles;
  /** Read before every use. */
  readonly settings: () => ToolSettings;
  /** Allows only tools that read, in spite of the settings. */
  readonly readOnly: boolean;
  readonly confirm?: Confirm | undefined;
  readonly events?: Pick<EventBus, "emit"> | undefined;
  readonly onSettled?: DispatcherOptions["onSettled"] | undefined;
  readonly redact?: DispatcherOptions["redact"] | undefined;
  readonly onNotice: (notice: string) => void;
}

export function createWorldTools(of: ToolsOf): WorldTools {
  const { events, settings } = of;
  // Event chains of the running turns: a tool's event has its own use as parent.
  const chains = new Map<string, SharedChain>();
  const emit: EmitInCall | undefined =
    events &&
    ((draft, call) =>
      createCallEmitter(events, chains.get(call.turnId) ?? { current: null })(draft, call));
  const tools = of.make(emit);
  const all = perSource(of.serverTools ?? noTools, (further) => [...tools, ...further]);
  // A session keeps the tools that it began with until it is compacted: its prompt does not change.
  const made = perSource(all, (given) =>
    perSource(settings, () => createDispatcher(toOptions(of, given))),
  );
  const dispatcher = (): Dispatcher => made()();
  let replyNumber = 0;
  return {
    toolsFor: (role) => dispatcher().toolsFor(role),
    runAll: async (uses, context) => {
      const { turnId, chain } = context;
      if (chain !== undefined) chains.set(turnId, chain);
      replyNumber += 1;
      try {
        return await dispatcher().runAll(uses, { replyNumber, ...context });
      } finally {
        chains.delete(turnId);
      }
    },
  };
}

const none: readonly Tool[] = [];

function noTools(): readonly Tool[] {
  return none;
}

const commands = "commands.run";

function toOptions(of: ToolsOf, tools: readonly Tool[]): DispatcherOptions {
  const { files, readOnly, events, onSettled, redact, onNotice } = of;
  const { allowBash = false, limits, confirmed, toolset } = of.settings();
  const isOffered = ({ needs }: Tool): boolean =>
    !needs.includes(commands) || (allowBash && !readOnly);
  return {
    tools: tools.filter(isOffered),
    toolset: readOnly ? readingOf(toolset) : (toolset ?? findToolset("workspace")),
    workspace: files,
    // Without a way to ask, the answer is no.
    confirm: of.confirm ?? (() => Promise.resolve(false)),
    onProblem: (problem) => onNotice(messageOf(problem)),
    ...(confirmed === undefined ? {} : { confirmed }),
    ...(limits === undefined ? {} : { limits }),
    ...(events === undefined ? {} : { events }),
    ...(onSettled === undefined ? {} : { onSettled }),
    ...(redact === undefined ? {} : { redact }),
  };
}

/** The toolset limited to reading; never adds a permission. */
function readingOf(toolset: Toolset | undefined): Toolset {
  const reading = findToolset("read-only");
  if (toolset === undefined) return reading;
  const granted = reading.granted.filter((each) => toolset.granted.includes(each));
  return { ...toolset, granted };
}
