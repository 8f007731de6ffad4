// What a configured provider changes in a call: beta features, the name of the model, and whether it is asked for its diagnosis.
import { noPlan, type CachePlan } from "../../core/cache/cache-plan.ts";
import type { Catalogue } from "../../core/models/catalogue.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import type { ProviderConfig } from "../../core/config/schema/providers.ts";
import { findModel } from "../../core/models/resolve-model.ts";
import { changeWire, findWire, type WireRules } from "../../core/models/wire-rules.ts";
import type { EncodeNote } from "../../core/wire/encoded-request.ts";
import { isList } from "./transport.ts";
import type {
  CallToEncode,
  CompactionToEncode,
  Protocol,
  ProtocolStoring,
} from "../../core/wire/protocol.ts";
import { pathOfAddress } from "../../core/wire/vendor-address.ts";

export interface PlanBetas {
  /** With any marker. */
  readonly any: readonly string[];
  /** With a marker that lives longer than the shortest lifetime. */
  readonly long: readonly string[];
}

export interface SpokenTo {
  readonly name: string;
  readonly protocol: Protocol;
  /** Looked up for each call. */
  readonly settings: () => ProviderConfig;
  readonly betas: () => PlanBetas;
  readonly catalogue: Catalogue;
}

/** The protocol as a configured provider wants it. */
export function speakTo({ name, protocol, settings, betas, catalogue }: SpokenTo): Protocol {
  const placed = withBasePath(protocol, () => pathOfAddress(settings().baseUrl ?? ""));
  const onWire = withWire(placed, (facts) => wireOf(name, settings(), facts));
  const featured = withHeaderBetas(withPlanBetas(onWire, betas), () => settings().headers);
  const named = withModelNames(featured, (facts) =>
    findModelName(settings().modelNames, facts, catalogue),
  );
  return withDiagnosis(named, () => settings().diagnose);
}

/** The same protocol, whose stored prefixes belong where the base URL leads. It is looked up for each request. */
export function withBasePath(protocol: Protocol, findPath: () => string): Protocol {
  const { storing } = protocol;
  if (storing === undefined) return protocol;
  const here = (): ProtocolStoring => storing.at(findPath());
  return {
    ...protocol,
    storing: {
      ...storing,
      findObstacle: (call) => here().findObstacle(call),
      encodeCreate: (prefix) => here().encodeCreate(prefix),
      encodeList: (pageToken) => here().encodeList(pageToken),
    },
  };
}

/** The same protocol, with the features that a plan needs. They are looked up for each call. */
export function withPlanBetas(protocol: Protocol, betas: () => PlanBetas): Protocol {
  return changingCalls(protocol, (call) => {
    const more = neededBetas(call.plan, call.model, betas());
    if (more.length === 0) return call;
    const options = { ...call.options, betas: [...(call.options.betas ?? []), ...more] };
    return { ...call, options };
  });
}

/** The same protocol, whose requests also name the features that configured headers ask for. They are looked up for each call. */
function withHeaderBetas(
  protocol: Protocol,
  findHeaders: () => ReadonlyMap<string, string>,
): Protocol {
  return {
    ...protocol,
    encode: (call) => {
      const request = protocol.encode(call);
      const more = [...findHeaders()]
        .filter(([name]) => isList(name.toLowerCase()))
        .flatMap(([, value]) => value.split(",").map((beta) => beta.trim()));
      if (more.length === 0) return request;
      return { ...request, betas: [...new Set([...(request.betas ?? []), ...more])] };
    },
  };
}

export function neededBetas(
  { markers, requestMarker }: Pick<CachePlan, "markers" | "requestMarker">,
  { cache }: Pick<ModelFacts, "cache">,
  { any, long }: PlanBetas,
): readonly string[] {
  const asked = [
    ...markers.map(({ lifetime }) => lifetime),
    ...(requestMarker === null ? [] : [requestMarker]),
  ];
  if (asked.length === 0) return [];
  const shortest = cache.lifetimes[0]?.lifetime;
  return asked.every((lifetime) => lifetime === shortest) ? any : [...any, ...long];
}

/** The same protocol, which asks why the cache missed where that is configured and taken. The caller's own question stays. */
export function withDiagnosis(protocol: Protocol, isAsked: () => boolean): Protocol {
  const { diagnosisMember: member } = protocol;
  return {
    ...protocol,
    encode: (call) => {
      const { previousReplyId, model, options } = call;
      if (previousReplyId === undefined || !isAsked()) return protocol.encode(call);
      if (member === undefined || !model.cache.diagnostics) {
        const request = protocol.encode(call);
        return { ...request, notes: [...request.notes, noDiagnosis] };
      }
      if (options.extraJson?.[member] !== undefined) return protocol.encode(call);
      const request = protocol.encode({ ...call, diagnose: true });
      return { ...request, comparesWith: previousReplyId };
    },
  };
}

const noDiagnosis: EncodeNote = {
  kind: "option-ignored",
  detail: "diagnose: the provider of this model says nothing about its cache",
};

/** The configured name of a model, looked up by any spelling of it; null for its own. */
function findModelName(
  names: ReadonlyMap<string, string>,
  { id }: Pick<ModelFacts, "id">,
  catalogue: Catalogue,
): string | null {
  for (const [given, name] of names) {
    if (given === id || findModel(given, catalogue)?.facts.id === id) return name;
  }
  return null;
}

/** The same protocol with these model names as defaults. They are looked up for each call. */
function withModelNames(
  protocol: Protocol,
  nameOf: (model: ModelFacts) => string | null,
): Protocol {
  return changingCalls(protocol, (call) => {
    const modelName = call.options.modelName ?? nameOf(call.model);
    return modelName === null ? call : { ...call, options: { ...call.options, modelName } };
  });
}

/** The same protocol for servers with other rules than the model's route. They are looked up for each call. */
function withWire(protocol: Protocol, findRules: (model: ModelFacts) => WireRules): Protocol {
  const onWire = (model: ModelFacts): ModelFacts => {
    const wire = findRules(model);
    return wire === model.wire ? model : { ...model, wire };
  };
  return {
    ...changingCalls(protocol, (call) => ({ ...call, model: onWire(call.model) })),
    spelling: (model) => protocol.spelling(onWire(model)),
  };
}

/** The rules of a configured server: those of the server it names or is named like, with the user's changes. */
function wireOf(
  name: string,
  { wire: { like, ...changes } }: Pick<ProviderConfig, "wire">,
  { wire }: Pick<ModelFacts, "wire">,
): WireRules {
  return changeWire(findWire(like ?? name)?.rules ?? wire, changes);
}

type CallToChange = Pick<CallToEncode, "model" | "options" | "plan">;

/** The same protocol for calls that are changed before they are encoded. */
function changingCalls(
  protocol: Protocol,
  change: <Call extends CallToChange>(call: Call) => Call,
): Protocol {
  const { compaction, storing } = protocol;
  return {
    ...protocol,
    encode: (call) => protocol.encode(change(call)),
    ...(storing && {
      storing: {
        ...storing,
        findObstacle: (call) => storing.findObstacle(change({ ...call, plan: noPlan })),
        encodeCreate: (prefix) => {
          const { model, options } = change({ ...prefix, plan: noPlan });
          return storing.encodeCreate({ ...prefix, model, options });
        },
      },
    }),
    ...(compaction === undefined
      ? {}
      : {
          compaction: {
            ...compaction,
            encode: (call: CompactionToEncode) => compaction.encode(change(call)),
          },
        }),
  };
}
