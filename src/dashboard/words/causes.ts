// Causes of misses as clauses, so that they stand in a sentence.

const clauses: Readonly<Record<string, string>> = {
  "first call": "it was the first call",
  "model changed": "the model changed",
  "tools changed": "the tool list changed",
  "tools reordered": "the tools changed places",
  "system changed": "the system text changed",
  "history rewritten": "the history was rewritten",
  "parameter changed": "a setting changed",
  "beta header changed": "a beta header changed",
  "no slot for a marker": "no marker was left for it",
  "lifetime expired": "a pause outlived the lifetime",
  "below the minimum": "the prompt was shorter than the minimum",
  "beyond lookback": "too many blocks were added at once",
  "written concurrently": "the same prefix was written at the same moment",
  "provider lost it": "the provider lost it",
  "changed after the head": "something behind the head changed",
  "another host": "another host answered",
  "stored prefix gone": "a stored prefix was gone",
  "nothing was marked": "nothing was marked",
};

/** A cause that is not known here is named as it is. */
export function clauseOf(cause: string): string {
  return Object.hasOwn(clauses, cause) ? (clauses[cause] ?? cause) : cause;
}

/** For the beginning of a sentence. */
export function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
