// `strata-context/ai-sdk`: what users of the Vercel AI SDK import.
export {
  strataMiddleware,
  type RecordedSession,
  type StrataMiddleware,
  type StrataMiddlewareOptions,
  type ReportedCall,
} from "./middleware.ts";
