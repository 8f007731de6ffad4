// `strata-context/replay`: what recorded sessions cost, and what they could have cost.
export type { GroupBy, ReplayOptions } from "./books.ts";
export type { CallDetail } from "./call-detail.ts";
export { createLimitMeter, type LimitMeter, type LimitRequest, type Limits } from "./limit.ts";
export type { MissCause } from "../core/diagnosis/explanation.ts";
export type { Miss } from "./misses.ts";
export { readRecordings } from "./readers/read-recordings.ts";
export type { HiddenChange, SessionReads } from "./recorded-reads.ts";
export type {
  Recorded,
  RecordedBlock,
  RecordedMarker,
  RecordedRequest,
  RecordedSession,
  RecordingFormat,
} from "./recording.ts";
export { replay } from "./replay.ts";
export type {
  AutomaticReport,
  BilledFigures,
  BilledReport,
  Bound,
  GroupReport,
  MissReport,
  PolicyReport,
  RecordedReport,
  ReplayReport,
} from "./report.ts";
export type { Accounting, Places } from "./summary/accounting.ts";
export { headlineOf } from "./summary/headline.ts";
export type { LossCause } from "./summary/session-account.ts";
export type {
  CauseReport,
  ComparisonReport,
  DayReport,
  Headline,
  PaidReport,
  ReplaySummary,
  SessionReport,
} from "./summary/summary.ts";
