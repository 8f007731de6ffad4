// Finds what in a request will break caching, before it costs money.
import type { ModelFacts } from "../models/model-facts.ts";
import { findModel } from "../models/resolve-model.ts";
import { excerptAt } from "./excerpt.ts";
import type { ForeignBlock, ForeignRequest } from "../wire/foreign/foreign-request.ts";
import type { LintFinding, LintRule } from "./lint-finding.ts";
import { lintMarkers } from "./lint-markers.ts";
import { readRequest } from "../wire/foreign/read-request.ts";
import { findVolatile, type VolatileText } from "./volatile-text.ts";

/** Looks up the rules by the model's name by default. */
export function lintRequest(
  input: string | ForeignRequest,
  rules?: ModelFacts,
): readonly LintFinding[] {
  const request = typeof input === "string" ? readRequest(input) : input;
  const facts = rules ?? findModel(request.model)?.facts ?? null;
  return [
    ...(facts === null ? [unknownModel(request)] : lintMarkers(request, facts)),
    ...lintTools(request),
    ...lintVolatile(request),
  ];
}

function unknownModel({ model }: ForeignRequest): LintFinding {
  const named =
    model === "" ? "the body names no model" : `nothing is known of model ${excerptAt(model, 0)}`;
  return {
    rule: "unknown-model",
    severity: "info",
    path: "model",
    message: `${named}, so limits and minimums were not checked`,
    advice:
      model === ""
        ? "Say which model is asked: --model ID, or its facts as the second argument."
        : "Name a known model, or add this one to the catalogue.",
  };
}

/** Any fixed order works; a sorted order is the easiest to keep. */
function lintTools({ blocks }: ForeignRequest): readonly LintFinding[] {
  const tools = blocks
    .filter(({ tier }) => tier === "T0")
    .toSorted((left, right) => wireIndex(left) - wireIndex(right));
  const at = tools.findIndex((tool, index) => tool.section < (tools[index - 1]?.section ?? ""));
  const tool = tools[at];
  if (tool === undefined) return [];
  return [
    {
      rule: "tools-unsorted",
      severity: "info",
      path: tool.path,
      message: `${tool.section} stands after ${tools[at - 1]?.section ?? "another"}: tools are not sorted by name`,
      advice: "Sort tools by name, so that their order cannot depend on who registered first.",
    },
  ];
}

/** Blocks are in the order the provider reads them, which is not always the client's. */
function wireIndex({ path }: ForeignBlock): number {
  return path.startsWith("tools.") ? Number(path.slice("tools.".length)) : 0;
}

/** More findings of one rule become one line. */
const findingsMax = 20;

function lintVolatile(request: ForeignRequest): readonly LintFinding[] {
  const lastMarker = request.markers.at(-1)?.block ?? -1;
  const last = request.requestMarker === null ? lastMarker : request.blocks.length - 1;
  const marked = new Set(request.markers.map(({ block }) => block));
  const findings = request.blocks.flatMap((block, index) => {
    const isFoundation = block.tier === "T0" || block.tier === "T1";
    if (!isFoundation && (index > last || !isClients(block))) return [];
    const found = findVolatile(block.text);
    if (isFoundation) return found.map((each) => inFoundation(block, each));
    const [first] = found;
    return first === undefined
      ? []
      : [inHistory(block, first, index === last && marked.has(index))];
  });
  return withoutFlood(findings);
}

/** Text that the client writes. Output of models and tools is replayed unchanged. */
function isClients({ role, kind }: ForeignBlock): boolean {
  return (role === "user" || role === "system") && kind === "text";
}

const ruleOf = { clock: "clock", uuid: "uuid", "random id": "random-id" } as const;

function inFoundation(block: ForeignBlock, { kind, at }: VolatileText): LintFinding {
  return {
    rule: ruleOf[kind],
    severity: "warning",
    path: block.path,
    message: `${block.section} holds a ${kind}: ${excerptAt(block.text, at)}`,
    advice:
      "If it changes from call to call, move it behind the last marker; everything after it is lost with it.",
  };
}

function inHistory(
  block: ForeignBlock,
  { kind, at }: VolatileText,
  isMarked: boolean,
): LintFinding {
  const message = `${block.section} holds a ${kind} before the last marker: ${excerptAt(block.text, at)}`;
  return isMarked
    ? {
        rule: "marker-on-changing-block",
        severity: "warning",
        path: block.path,
        message,
        advice: "Mark the block before it, unless this text is sent again exactly as it is.",
      }
    : {
        rule: "volatile-before-marker",
        severity: "info",
        path: block.path,
        message,
        advice: "Send it again exactly as it is, or put it behind the last marker.",
      };
}

function withoutFlood(findings: readonly LintFinding[]): readonly LintFinding[] {
  const counts = new Map<LintRule, number>();
  const shown = findings.filter(({ rule }) => {
    const count = (counts.get(rule) ?? 0) + 1;
    counts.set(rule, count);
    return count <= findingsMax;
  });
  const more = [...counts].flatMap(([rule, count]): LintFinding[] => {
    if (count <= findingsMax) return [];
    const message = `${count - findingsMax} more of this kind`;
    return [{ rule, severity: "info", path: "", message, advice: "Repair the first ones." }];
  });
  return [...shown, ...more];
}
