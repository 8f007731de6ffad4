// The route table: the one source of handlers, parameter checks, openapi.json, the document and the client.
import { analysisRoutes } from "./analyses.ts";
import { callRoutes } from "./calls.ts";
import { eventRoutes } from "./events.ts";
import { healthRoutes } from "./health.ts";
import { lossRoutes } from "./losses.ts";
import { modelRoutes } from "./models.ts";
import { warmthRoutes } from "./warmth.ts";
import { weightRoutes } from "./weight.ts";
import { loginRoutes } from "./logging-in.ts";
import { pictureRoutes } from "./picture.ts";
import { policyRoutes } from "./policies.ts";
import { sessionRoutes } from "./sessions.ts";
import type { Route } from "./route.ts";

/** What every path begins with. A change that breaks a client gets another number. */
export const apiBase = "/strata/v1";

/** The API itself. */
const openapi: Route = {
  name: "openapi",
  method: "GET",
  path: "/openapi.json",
  summary: "This API as an OpenAPI 3.1 document",
  query: [],
  answer: { type: "object", description: "an OpenAPI document" },
  errors: [],
  example: "/openapi.json",
  act: (_asked, { document }) => ({ body: document() }),
};

export const routes: readonly Route[] = [
  ...analysisRoutes,
  ...pictureRoutes,
  ...sessionRoutes,
  ...callRoutes,
  ...eventRoutes,
  ...lossRoutes,
  ...weightRoutes,
  ...warmthRoutes,
  ...policyRoutes,
  ...modelRoutes,
  ...healthRoutes,
  ...loginRoutes,
  openapi,
];

export function routeNamed(name: string): Route | undefined {
  return routes.find((route) => route.name === name);
}
