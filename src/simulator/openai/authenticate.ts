// Authorization: Bearer KEY. Any key is accepted; it only decides who shares a cache.
import type { SimRequest, SimResponse, SurfaceContext } from "../surface.ts";
import { toErrorResponse } from "./api-error.ts";

export function authenticate(
  request: SimRequest,
  context: Pick<SurfaceContext, "newId">,
): { readonly key: string } | { readonly refusal: SimResponse } {
  const header = request.headers.get("authorization")?.trim() ?? "";
  const key = /^bearer\s+(\S.*)$/i.exec(header)?.[1];
  if (key !== undefined) return { key };
  const isEmpty = header === "" || /^bearer$/i.test(header);
  const type = "invalid_request_error";
  const body = isEmpty
    ? { message: noKey, type, param: null, code: null }
    : { message: wrongKey, type, param: null, code: "invalid_api_key" };
  return { refusal: toErrorResponse(401, body, context) };
}

const noKey =
  "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY), or as the password field (with blank username) if you're accessing the API from your browser and are prompted for a username and password. You can obtain an API key from https://platform.openai.com/account/api-keys.";

/** The provider shows part of the key; the simulator shows none of it. */
const wrongKey =
  "Incorrect API key provided: ****. You can find your API key at https://platform.openai.com/account/api-keys.";
