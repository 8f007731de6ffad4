// `strata-context/config`: opens what a program runs on as strata.yaml says, and reads the configuration itself.
export { resolveAgent, type ResolvedAgent } from "../core/config/resolve-agent.ts";
export type { ConfigOption, ReadConfig } from "../core/config/read-config.ts";
export type { StrataConfig } from "../core/config/schema.ts";
export type { Setting } from "../core/config/settings.ts";
export { findConfigFiles, type WhereToLook } from "../edge/config/find-config-files.ts";
export { loadConfig, type LoadedConfig } from "../edge/config/load-config.ts";
export { openConfig, type LiveConfig, type OpenConfigOptions } from "../edge/config/open-config.ts";
export { reachProviders, type Providers } from "../edge/providers/reach-providers.ts";
export { createLiveCatalogue } from "./config/catalogue.ts";
export { toEngineConfig, toWorldSettings } from "./config/from-config.ts";
export { openHost, type Host, type HostOptions } from "./open-host.ts";
