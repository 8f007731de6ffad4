// Credentials taken out of free text before it becomes part of an event. Rather too much is taken than too little.

/** Of free text in an event. */
export const freeTextLengthMax = 500;

/** More is not looked at: every pattern below is bounded, so the work is too. */
const windowLength = 4096;

/** Longer than the beginning of any credential that is known only by its end, as in `user:secret@host`. */
const undecidedLength = 1024;

export function redact(text: string): string {
  const isCut = text.length > windowLength;
  const seen = patterns.reduce(
    (rest, [pattern, replacement]) => rest.replace(pattern, replacement),
    text.slice(0, windowLength),
  );
  const unnamed = seen.replace(/[A-Za-z0-9_-]{32,}/g, (run) => (isRandom(run) ? taken : run));
  const clean = (isCut ? unnamed.slice(0, -undecidedLength) : unnamed).toWellFormed();
  if (!isCut && clean.length <= freeTextLengthMax) return clean;
  const start = clean.slice(0, freeTextLengthMax - 32).toWellFormed();
  return `${start}… (of ${text.length} characters)`;
}

const taken = "[redacted]";

const patterns: readonly (readonly [RegExp, string])[] = [
  // A private key, whether its end is there or not.
  [/-----BEGIN [A-Z0-9 ]{1,40}-----[\s\S]*?(?:-----END [A-Z0-9 ]{1,40}-----|$)/g, taken],
  // scheme://user:secret@host. A password may hold what should have been escaped.
  [
    /([a-z][a-z0-9+.-]{0,31}:\/\/)(?:[^\s:/@"'<>]{0,128}:[^\s"'<>]{1,512}|[^\s/?#"'<>]{1,512})@/gi,
    `$1${taken}@`,
  ],
  // The same without its end: what stands where a port would and is none.
  [
    /([a-z][a-z0-9+.-]{0,31}:\/\/[^\s:/@"'<>[]{0,128}:)(?!\d{1,5}(?![^\s/?#"'<>,.;)\]]))[^\s"'<>]{1,512}/gi,
    `$1${taken}`,
  ],
  ...headerPatterns(),
  ...namedPatterns(),
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

/** Up to the closing quote where JSON has one, else up to the end of the line: cookies hold spaces and quotes. */
function headerPatterns(): (readonly [RegExp, string])[] {
  const name =
    "(?:proxy-)?authorization|(?:set-)?cookie2?|(?:x-)?(?:[a-z]{1,16}-){0,3}(?:api-key|security-token)|passphrase|mnemonic";
  const opening = `["']\\s{0,8}:\\s{0,8}"`;
  const json = new RegExp(`\\b(${name})(${opening})(?:[^"\\\\\\r\\n]|\\\\.)*`, "gi");
  const line = new RegExp(
    `\\b(${name})(?!${opening}\\[redacted)([\\\\"']{0,4}\\s{0,8}[:=]\\s{0,8})[^\\r\\n]+`,
    "gi",
  );
  return [
    [json, `$1$2${taken}`],
    [line, `$1$2${taken}`],
  ];
}

/** `password=…`, `"client_secret": "…"`, `AWS_SECRET_ACCESS_KEY=…`, `API key provided: …`, `--token …`. */
function namedPatterns(): (readonly [RegExp, string])[] {
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
