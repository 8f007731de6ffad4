// What credentials look like in free text: one list for events, problems and everything else that is printed.

export type Replacement = readonly [pattern: RegExp, by: string];

/** Private keys, headers, named values and keys that say what they are; not what an address holds. */
export function credentialPatterns(taken: string): readonly Replacement[] {
  return [
    // A private key, whether its end is there or not.
    [/-----BEGIN [A-Z0-9 ]{1,40}-----[\s\S]*?(?:-----END [A-Z0-9 ]{1,40}-----|$)/g, taken],
    ...headerPatterns(taken),
    ...namedPatterns(taken),
    [/\b(bearer\s{1,8})(?!token\b|auth)[^\s"',;]{4,4096}/gi, `$1${taken}`],
    [
      /\b((?:Basic|basic|BASIC|Digest) {1,8})(?=[a-z]{0,64}[A-Z0-9+/=])[\w+/=-]{8,4096}/g,
      `$1${taken}`,
    ],
    // Keys that say what they are; short beginnings that words share must be followed by a digit soon.
    [
      /(?<![A-Za-z0-9])(?:sk|gsk|hf|xai|gh[opsur]|github_pat|glpat|xox[a-z]|xapp|whsec|shpat|pplx|nvapi|tvly|dckr_pat|lin_api|dop_v1)[-_][\w-]{8,4096}/g,
      taken,
    ],
    [/(?<![A-Za-z0-9])(?:pk|rk|key|api|npm|pypi|r8)[-_](?=[\w-]{0,48}\d)[\w-]{12,4096}/g, taken],
    [/(?<![A-Za-z0-9])(?:A(?:KIA|SIA)[A-Z0-9]{12,128}|AIza[\w-]{20,4096})/g, taken],
    [/(?<![A-Za-z0-9])(?:ya29|SG|eyJ[\w-]{5,4096})\.[\w.-]{8,4096}/g, taken],
  ];
}

/** The text without long random runs. */
export function takeRandom(text: string, taken: string): string {
  return text.replace(/[A-Za-z0-9_-]{32,}/g, (run) => (isRandom(run) ? taken : run));
}

/** Up to the closing quote where JSON has one, else up to the end of the line: cookies hold spaces and quotes. */
function headerPatterns(taken: string): Replacement[] {
  const name =
    "(?:proxy-)?authorization|(?:set-)?cookie2?|(?:x-)?(?:[a-z]{1,16}-){0,3}(?:api-key|security-token)|passphrase|mnemonic";
  const opening = `["']\\s{0,8}:\\s{0,8}"`;
  const json = new RegExp(`\\b(${name})(${opening})(?:[^"\\\\\\r\\n]|\\\\.)*`, "gi");
  const line = new RegExp(
    `\\b(${name})(?!${opening}${escape(taken)})([\\\\"']{0,4}\\s{0,8}[:=]\\s{0,8})[^\\r\\n]+`,
    "gi",
  );
  return [
    [json, `$1$2${taken}`],
    [line, `$1$2${taken}`],
  ];
}

/** `password=…`, `"client_secret": "…"`, `AWS_SECRET_ACCESS_KEY=…`, `API key provided: …`, `--token …`. */
function namedPatterns(taken: string): Replacement[] {
  const name = [
    "pass(?:(?:word|wd|code)[\\w-]{0,20})?",
    "pwd",
    "secret[\\w-]{0,40}",
    // Not `max_tokens: 4096`, which is no secret and often the reason of a failure.
    "token",
    "credentials?",
    "signature",
    "sig",
    "api[ _-]?key(?: [a-z]{1,12}){0,2}",
    "(?:access|private|account|signing|encryption|subscription|shared)[ _-]?key(?:[_-]?id)?",
    "_auth",
  ].join("|");
  const sign = `[\\\\"'\\]]{0,4}\\s{0,8}(?:=>|:=|=|:)\\s{0,8}\\\\?`;
  const before = `(?:${name})(?![a-z0-9_])${sign}|--[\\w-]{0,40}?(?:${name})\\s{1,8}`;
  return [
    [new RegExp(`((?:${before})")(?:[^"\\\\\\r\\n]|\\\\.){1,4096}`, "gi"), `$1${taken}`],
    [new RegExp(`((?:${before})')[^'\\r\\n]{1,4096}`, "gi"), `$1${taken}`],
    [new RegExp(`(${before})(?!["'])\\S{1,4096}`, "gi"), `$1${taken}`],
  ];
}

/** A long run of all three kinds of characters; hashes are hex and names are words. */
function isRandom(run: string): boolean {
  return [/[A-Z]/g, /[a-z]/g, /[0-9]/g].every((kind) => (run.match(kind)?.length ?? 0) >= 3);
}

function escape(text: string): string {
  return text.replace(/[^\w]/g, "\\$&");
}
