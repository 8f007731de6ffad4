// `strata-context/sdk`: what users of the providers' own SDKs import.
export type { Fetch } from "./send-watched.ts";
export { openWatchedFetch, type WatchedFetch, type WatchedFetchOptions } from "./watched-fetch.ts";
export { withStrata, type SdkClient } from "./with-strata.ts";
