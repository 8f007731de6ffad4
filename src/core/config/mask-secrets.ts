// Masks secrets before a configuration is printed. In doubt a value is masked; no character of a secret is shown.
import { credentialPatterns, takeRandom, type Replacement } from "../events/credential-patterns.ts";

export const masked = "***";

/** Masks keys, tokens and passwords, by their names and by their form. */
export function maskSecrets(value: unknown, name = ""): unknown {
  if (typeof value === "string") return maskNamed(value, name);
  if (typeof value === "number" || typeof value === "bigint") {
    return isPasswordName(name) ? masked : value;
  }
  if (Array.isArray(value)) return value.map((item: unknown) => maskSecrets(item, name));
  if (value instanceof Map) {
    return new Map(
      [...value].map(([key, each]) => [maskSecrets(key), maskSecrets(each, String(key))]),
    );
  }
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).map(([key, each]) => [
    maskText(key),
    maskSecrets(each, key),
  ]);
  return Object.fromEntries(fields);
}

/** For text without a name: addresses with a password, and keys of a known form. */
export function maskText(text: string): string {
  const seen = text.slice(0, lengthMax);
  const named = patterns.reduce((rest, [pattern, by]) => rest.replace(pattern, by), seen);
  const rest = text.length > lengthMax ? `… (of ${text.length} characters)` : "";
  return `${takeRandom(named, masked)}${rest}`.toWellFormed();
}

/** Longer text is cut first: the patterns are slow. */
const lengthMax = 10_000;

/** For an address: masks the whole user part, and every value after the question mark. */
export function maskAddress(address: string): string {
  // Up to the last sign: a part that should have been escaped may hold others.
  const nameless = address.replace(/^([a-z][a-z0-9+.-]*:\/\/).*@/is, `$1${masked}@`);
  return maskText(nameless).replace(/([?&][^=&#]{0,128}=)[^&#]+/g, `$1${masked}`);
}

/** Whether a value of this name is a secret, as `api_key`, `x-auth-token` or `clientSecret`. */
export function isSecretName(name: string): boolean {
  const words = wordsOf(name);
  const last = words.at(-1) ?? "";
  // The name of a variable or a file is not a secret; its content is.
  if (pointers.has(last)) return false;
  if (secretEnds.has(last.replace(/s$/, "")) || words.some(isSecretWord)) return true;
  // As access_key_id and private-key-pem.
  return words.some((word, at) => word === "key" && keyParts.has(words[at + 1] ?? ""));
}

const pointers: ReadonlySet<string> = new Set(["env", "file", "path", "name"]);

const keyParts: ReadonlySet<string> = new Set(["id", "pem", "value", "data", "material"]);

/** Also as one word: `authtoken`, `dbpassword`, `apikey`. */
function isSecretWord(word: string): boolean {
  return secretWords.has(word) || /.(?:token|secret|password|passwd|apikey)$/.test(word);
}

const secretWords: ReadonlySet<string> = new Set([
  "pass",
  "passcode",
  "password",
  "passwd",
  "passphrase",
  "secret",
  "authorization",
  "auth",
  "apikey",
  "credential",
  "credentials",
  "cookie",
]);

const secretEnds: ReadonlySet<string> = new Set(["key", "token", "pwd", "pin", "signature"]);

function maskNamed(text: string, name: string): string {
  return text !== "" && isSecretName(name) ? masked : maskText(text);
}

/** Numbers are counts and limits, unless they are a password. */
function isPasswordName(name: string): boolean {
  return wordsOf(name).some((word) => isSecretWord(word) || word === "pin" || word === "pwd");
}

function wordsOf(name: string): readonly string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== "");
}

const patterns: readonly Replacement[] = [
  // scheme://user:secret@host, with the user's name; the secret may have characters that should have been escaped.
  [/([a-z][a-z0-9+.-]{0,31}:\/\/)[^\s:/?#@]{0,128}:[^\s]{0,1024}@/gi, `$1${masked}@`],
  // The same with spaces in it.
  [/([a-z][a-z0-9+.-]{0,31}:\/\/)[^\s:/?#@]{0,128}:[^\r\n@/]{0,1024}@/gi, `$1${masked}@`],
  [/([a-z][a-z0-9+.-]{0,31}:\/\/)[^\s:/?#@]{1,1024}@/gi, `$1${masked}@`],
  // The same where the host is missing: what follows the colon is no port.
  [
    /([a-z][a-z0-9+.-]{0,31}:\/\/)([^\s:/?#@[]{0,128}):(?!\*\*\*|\d{1,5}(?:[^\w%]|$))[^\s"'@]{1,1024}/gi,
    `$1$2:${masked}`,
  ],
  // The same where the scheme is missing.
  [/(\w{1,128}):(?!\*\*\*@)[^\s:/@"']{1,1024}@(?=[\w[])/g, `$1:${masked}@`],
  // Escapes before the sign are those of a password.
  [/[^\s"'@/]{0,1024}%[0-9a-f]{2}[^\s"'@/]{0,1024}@/gi, `${masked}@`],
  [
    /([?&][\w.-]{0,64}(?:key|token|password|passwd|pass|secret|signature|sig|auth|code)=)[^&#\s]{1,1024}/gi,
    `$1${masked}`,
  ],
  ...credentialPatterns(masked),
];
