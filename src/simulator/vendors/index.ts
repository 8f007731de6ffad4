// Vendors that speak others' protocols, and servers of one's own: one surface for each row of vendors.json.
import { listModels } from "../../core/models/catalogue.ts";
import { faultResponse } from "../anthropic/request-headers.ts";
import type { Route, SimRequest, SimResponse, Surface, SurfaceContext } from "../surface.ts";
import { answerVendorChat } from "./answer-chat.ts";
import { answerVendorMessages } from "./answer-messages.ts";
import { noKey, refuse, refuseOutside, toFault } from "./errors.ts";
import type { LocalServer } from "./usage.ts";
import { vendorRows, type VendorRow } from "./vendor-row.ts";

export type { LocalServer } from "./usage.ts";

/** All of them share one address, so each has a folder of it, with its own paths below. */
export function vendorPath(name: string): string {
  return `/vendors/${name}`;
}

export const vendorSurfaces: readonly ((local: LocalServer) => Surface)[] = vendorRows.map(
  (row) => (local) => createVendorSurface(row, local),
);

function createVendorSurface(row: VendorRow, local: LocalServer): Surface {
  const root = vendorPath(row.name);
  const post = (
    path: string,
    answer: (request: SimRequest, context: SurfaceContext) => SimResponse,
  ): Route => ({ method: "POST", path: `${root}${path}`, handle: answer });
  return {
    name: row.name,
    isClient: (_, path) => path.startsWith(`${root}/`),
    authenticate: (request, context) => authenticate(row, request, context),
    fault: (fault, place) =>
      place.path === `${root}${row.messages}`
        ? faultResponse(fault, place)
        : toFault(row, fault, place),
    refuse: ({ status, message }, context) => refuseOutside(row, status, message, context),
    routes: [
      post(`${row.base}/chat/completions`, (request, context) =>
        answerVendorChat(row, request, context, local),
      ),
      ...(row.messages === null
        ? []
        : [
            post(row.messages, (request, context) =>
              answerVendorMessages(row, request, context, local),
            ),
          ]),
      {
        method: "GET",
        path: `${root}${row.base}/models`,
        handle: (_, context) => answerModels(row, context),
      },
    ],
  };
}

/** Any key is accepted; it only decides who shares a cache. A server of one's own needs none. */
function authenticate(
  row: VendorRow,
  { headers }: SimRequest,
  context: Pick<SurfaceContext, "newId">,
): ReturnType<Surface["authenticate"]> {
  const bearer = /^bearer\s+(\S.*)$/i.exec(headers.get("authorization")?.trim() ?? "")?.[1];
  const key = bearer ?? headers.get("x-api-key")?.trim();
  if (key !== undefined && key !== "") return { key };
  return row.isLocal ? { key: "no key" } : { refusal: refuse(row, noKey, context) };
}

/** Servers of one's own serve any name, so their lists are empty here. */
function answerModels(row: VendorRow, { newId }: SurfaceContext): SimResponse {
  const data = listModels()
    .filter(({ provider, lifecycle }) => provider === row.models && lifecycle.status !== "retired")
    .map(({ id }) => ({ id, object: "model", created: 0, owned_by: row.name }));
  const headers = { "content-type": "application/json", "x-request-id": newId("req_") };
  return { status: 200, headers, body: JSON.stringify({ object: "list", data }) };
}
