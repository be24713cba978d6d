import { afterAll, beforeAll } from 'vitest';

/**
 * Opens an object before the tests of the file or `describe` that calls this, and disposes it after them. The result stands for the object:
 * tests and later fixtures use its members. A file needs no variables and hooks for what it shares.
 */
export const fixture = <T extends object>(open: () => T | Promise<T>): T => {
  let opened: T | undefined;
  const get = (): T => {
    if (opened === undefined) throw new Error('a fixture is opened when the tests start');
    return opened;
  };
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(async () => {
    const disposable: Partial<AsyncDisposable & Disposable> | undefined = opened;
    await disposable?.[Symbol.asyncDispose]?.();
    disposable?.[Symbol.dispose]?.();
  });
  return new Proxy({} as T, {
    get(_, name) {
      const member: unknown = Reflect.get(get(), name);
      // Methods of classes with private members need their own object as `this`.
      return typeof member === 'function' ? (member.bind(get()) as unknown) : member;
    },
    set: (_, name, value) => Reflect.set(get(), name, value),
    has: (_, name) => Reflect.has(get(), name),
    ownKeys: () => Reflect.ownKeys(get()),
    getOwnPropertyDescriptor(_, name) {
      const descriptor = Reflect.getOwnPropertyDescriptor(get(), name);
      return descriptor && { ...descriptor, configurable: true };
    },
  });
};
