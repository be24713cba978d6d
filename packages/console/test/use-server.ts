// A server process for the tests of a `describe`.
import { afterAll, beforeAll } from 'vitest';
import { startServerProcess, type ServerOptions, type ServerProcess } from './serve.ts';

/** Starts the server before the tests, and ends it after them. */
export const useServer = (options: ServerOptions = {}): { readonly url: string } => {
  let server: ServerProcess | undefined;
  beforeAll(async () => {
    server = await startServerProcess(options);
  });
  afterAll(() => server?.[Symbol.asyncDispose]());
  return {
    get url() {
      if (server === undefined) throw new Error('the server has not started');
      return server.url;
    },
  };
};
