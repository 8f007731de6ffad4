// Statement texts that are built once per key: a database finds a text it has seen before much faster.

const textsMax = 100;

export function buildOnce<Key>(build: (key: Key) => string): (key: Key) => string {
  const texts = new Map<Key, string>();
  return (key) => {
    const known = texts.get(key);
    if (known !== undefined) return known;
    if (texts.size >= textsMax) texts.clear();
    const text = build(key);
    texts.set(key, text);
    return text;
  };
}
