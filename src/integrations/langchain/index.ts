// `strata-context/langchain`: what users of LangChain and LangGraph import.
export {
  strataMiddleware,
  type StrataMiddleware,
  type StrataMiddlewareOptions,
} from "./strata-middleware.ts";
