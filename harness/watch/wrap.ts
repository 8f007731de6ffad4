// Wraps a method of an object to see its arguments before it runs.

/** Replaces the method in place and keeps the function's own properties. */
export function before<Key extends string>(
  object: { readonly [key in Key]: (...words: never[]) => unknown },
  name: Key,
  look: (this: never, ...words: unknown[]) => void,
): void {
  const wrapped = object[name];
  const wrapper = function (this: unknown, ...words: unknown[]): unknown {
    Reflect.apply(look, this, words);
    return Reflect.apply(wrapped, this, words);
  };
  Object.assign(object, { [name]: Object.assign(wrapper, wrapped) });
}
