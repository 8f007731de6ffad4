// A look at the arguments of a function of somebody else's object, before it runs as ever.

/** In place. Whatever else the function carries, it keeps. */
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
