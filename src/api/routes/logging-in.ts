// How a browser becomes the owner: a code from someone who has the token, then a cookie.
import { textIn } from "../../core/message/fields.ts";
import { cookieOf } from "../access/door.ts";
import { loginCookie } from "../access/logins.ts";
import { refuseWith } from "../answer/api-error.ts";
import { one } from "./envelope.ts";
import type { Acted, Desk, Route } from "./route.ts";
import { flag, moment, object, oneOf, orNull, text } from "./schema.ts";

const kind = oneOf(["owner", "key"], "the owner of the gateway, or a virtual key");

export const loginRoutes: readonly Route[] = [
  {
    name: "me",
    method: "GET",
    path: "/login",
    isForKeys: true,
    summary: "Who asks: the owner, or a virtual key by its name",
    query: [],
    answer: one(object({ kind, name: orNull(text("the name of the key; null for the owner")) })),
    errors: [],
    example: "/login",
    act: ({ access }) => ({
      body: { data: { kind: access.kind, name: access.kind === "key" ? access.name : null } },
    }),
  },
  {
    name: "new_login_code",
    method: "POST",
    path: "/login-codes",
    summary: "A code with which one browser logs in once, within ten minutes",
    query: [],
    takes: object({}),
    answer: one(
      object({
        code: text("for the fragment of the page's address: `#code=…`"),
        expires_at: moment("in UTC"),
      }),
    ),
    errors: [],
    example: "/login-codes",
    act: ({ nowMs }, { logins }) => {
      const { code, expiresMs } = logins.newCode(nowMs);
      return { body: { data: { code, expires_at: new Date(expiresMs).toISOString() } } };
    },
  },
  {
    name: "login",
    method: "POST",
    path: "/login",
    summary:
      "Use a code: the answer sets a cookie that no script can read, good for 30 days or until the gateway stops",
    query: [],
    takes: object({ code: text("from `POST /login-codes`") }),
    answer: one(object({ kind })),
    errors: ["login_failed"],
    example: "/login",
    exampleBody: `'{"code":"'"$STRATA_LOGIN_CODE"'"}'`,
    act: ({ body, nowMs }, desk) => {
      const code = textIn(body, "code");
      if (code === undefined) {
        throw refuseWith("invalid_body", "the body has no code", 'send {"code":"…"}');
      }
      const cookie = desk.logins.use(code, nowMs);
      return { body: { data: { kind: "owner" } }, headers: setCookie(cookie, 30 * 86_400, desk) };
    },
  },
  {
    name: "logout",
    method: "POST",
    path: "/logout",
    summary: "End the login of this browser",
    query: [],
    takes: object({}),
    answer: one(object({ was_logged_in: flag("whether there was a login to end") })),
    errors: [],
    example: "/logout",
    act: (asked, desk): Acted => {
      const cookie = cookieOf(asked.headers);
      if (cookie !== null) desk.logins.end(cookie);
      const body = { data: { was_logged_in: cookie !== null } };
      return { body, headers: setCookie("", 0, desk) };
    },
  },
];

function setCookie(
  value: string,
  seconds: number,
  { isEncrypted }: Desk,
): Readonly<Record<string, string>> {
  const secure = isEncrypted ? "; Secure" : "";
  return {
    "set-cookie": `${loginCookie}=${value}; Path=/strata; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`,
  };
}
