// Goal: the configuration says by default what the parts do by themselves. Method: compare both, for it comes before them.
import { expect, test } from "vitest";
import { configOf } from "../../edge/config/test-kit.ts";
import { usualRetries } from "../../edge/providers/retry.ts";
import { usualTimeouts } from "../../edge/providers/timeouts.ts";
import { dispatchLimits } from "../../edge/tools/dispatch/dispatch-options.ts";
import { delegationLimits } from "../../engine/sub-agents/sub-agent.ts";
import { usualLimits } from "../../gateway/listen/open-listener.ts";
import { usualForwarding } from "../../gateway/open-forwarder.ts";
import { findPolicy } from "../cache/policies.ts";
import { defaultCompactionSettings, type CompactionSettings } from "../compaction/plan/settings.ts";
import { defaultJournalLimits } from "../memory/memory-journal.ts";
import { defaultActivationLimits } from "../skills/activation.ts";
import { indexLengthMax } from "../skills/fit-index.ts";
import { toolsets } from "../tools/toolsets.ts";
import { policyNames } from "../cache/policy.ts";
import { toolsetNames } from "./schema/tools.ts";

const config = configOf("");

test("policies and toolsets have the same names", () => {
  expect(policyNames.map((name) => findPolicy(name).name)).toEqual(policyNames);
  expect(toolsetNames).toEqual(toolsets.map(({ name }) => name));
});

test("compaction is configured in its own words", () => {
  // The application finds the summariser, the ledger has its own lease, and a cleared result becomes a fixed line.
  const { clearing, auto, summarizerModel: _, lockSeconds: __, ...rest } = config.compaction;
  const { thresholdBytes } = clearing;
  const settings: CompactionSettings = {
    ...defaultCompactionSettings,
    ...rest,
    clearing: { ...defaultCompactionSettings.clearing, thresholdBytes },
    auto: { ...defaultCompactionSettings.auto, ...auto },
  };
  expect(settings).toEqual(defaultCompactionSettings);
});

test("the gateway has the same limits", () => {
  const { limits, timeouts } = config.gateway;
  const { bodyReadBytesMax, ...ofListener } = limits;
  const { connectMs, firstByteMs, drainMs: _, ...waits } = timeouts;
  expect({ ...ofListener, ...waits }).toEqual(usualLimits);
  expect(usualForwarding).toEqual({
    bodyBytesMax: bodyReadBytesMax,
    connectMsMax: connectMs,
    firstByteMsMax: firstByteMs,
  });
});

test("sub-agents have the same limits", () => {
  const { depthMax, atOnceMax, reportCharactersMax, timeoutMs } = config.subAgents;
  expect({ depthMax, atOnceMax, reportCharactersMax, timeoutMs }).toEqual(delegationLimits);
});

test("calls, tools, skills and memory have the same limits", () => {
  const provider = config.providers.get("anthropic");
  expect(provider?.timeouts).toEqual(usualTimeouts);
  expect(provider?.retries).toEqual(usualRetries);
  expect(dispatchLimits).toMatchObject(config.tools.limits);
  expect(config.skills).toMatchObject({ ...defaultActivationLimits, indexLengthMax });
  expect(config.memory.journal).toEqual(defaultJournalLimits);
});
