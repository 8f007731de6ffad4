// Logins of browsers: a code that is good once and for a short time → a cookie that no script can read. All of it is forgotten at the end.
import { hash, randomBytes } from "node:crypto";
import { refuseWith } from "../answer/api-error.ts";

export interface Logins {
  /** For the fragment of an address: `#code=…` never leaves the browser. */
  newCode(nowMs: number): { readonly code: string; readonly expiresMs: number };
  /** The secret of the cookie. Throws if the code is wrong, used or too old. */
  use(code: string, nowMs: number): string;
  isOpen(cookie: string, nowMs: number): boolean;
  end(cookie: string): void;
}

export interface LoginLimits {
  readonly codeMs: number;
  readonly loginMs: number;
  /** The oldest is forgotten beyond it. */
  readonly countMax: number;
}

const usualLimits: LoginLimits = { codeMs: 600_000, loginMs: 30 * 86_400_000, countMax: 1000 };

export const loginCookie = "strata_login";

/** Only hashes are kept, so that nothing in memory opens anything. */
export function createLogins(limits: LoginLimits = usualLimits): Logins {
  const codes = new Map<string, number>();
  const logins = new Map<string, number>();
  const add = (to: Map<string, number>, secret: string, untilMs: number): void => {
    to.set(digest(secret), untilMs);
    const [oldest] = to.keys();
    if (to.size > limits.countMax && oldest !== undefined) to.delete(oldest);
  };
  return {
    newCode: (nowMs) => {
      const [code, expiresMs] = [newSecret(), nowMs + limits.codeMs];
      add(codes, code, expiresMs);
      return { code, expiresMs };
    },
    use: (code, nowMs) => {
      const untilMs = codes.get(digest(code));
      codes.delete(digest(code));
      if (untilMs === undefined || untilMs < nowMs) {
        throw refuseWith(
          "login_failed",
          "the code is wrong, used already or too old",
          "take a new one: POST /strata/v1/login-codes with the token",
        );
      }
      const cookie = newSecret();
      add(logins, cookie, nowMs + limits.loginMs);
      return cookie;
    },
    isOpen: (cookie, nowMs) => (logins.get(digest(cookie)) ?? 0) >= nowMs,
    end: (cookie) => void logins.delete(digest(cookie)),
  };
}

function newSecret(): string {
  return randomBytes(24).toString("base64url");
}

function digest(secret: string): string {
  return hash("sha256", secret, "base64url");
}
