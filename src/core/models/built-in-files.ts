// The committed facts, one file per provider.
import anthropic from "./data/anthropic.json" with { type: "json" };
import deepseek from "./data/deepseek.json" with { type: "json" };
import google from "./data/google.json" with { type: "json" };
import minimax from "./data/minimax.json" with { type: "json" };
import mistral from "./data/mistral.json" with { type: "json" };
import moonshot from "./data/moonshot.json" with { type: "json" };
import openProviders from "./data/open-providers.json" with { type: "json" };
import openai from "./data/openai.json" with { type: "json" };
import peakHours from "./data/peak-hours.json" with { type: "json" };
import qwen from "./data/qwen.json" with { type: "json" };
import routes from "./data/routes.json" with { type: "json" };
import shared from "./data/shared.json" with { type: "json" };
import shortNames from "./data/short-names.json" with { type: "json" };
import unlisted from "./data/unlisted.json" with { type: "json" };
import wires from "./data/wires.json" with { type: "json" };
import xai from "./data/xai.json" with { type: "json" };
import zai from "./data/zai.json" with { type: "json" };

export const builtInFiles: readonly (readonly [string, unknown])[] = [
  ["anthropic.json", anthropic],
  ["openai.json", openai],
  ["google.json", google],
  ["deepseek.json", deepseek],
  ["moonshot.json", moonshot],
  ["xai.json", xai],
  ["zai.json", zai],
  ["minimax.json", minimax],
  ["qwen.json", qwen],
  ["mistral.json", mistral],
];

export const peakHoursFile: unknown = peakHours;
export const routesFile: unknown = routes;
export const sharedFile: unknown = shared;
export const shortNamesFile: unknown = shortNames;
export const openProvidersFile: unknown = openProviders;
export const unlistedFile: unknown = unlisted;
export const wiresFile: unknown = wires;
