// One server for all files: tests look at what they have created themselves.
import type { TestProject } from 'vitest/node';
import { startServerProcess } from './serve.ts';

declare module 'vitest' {
  interface ProvidedContext {
    serverUrl: string;
  }
}

export const setup = async (project: Pick<TestProject, 'provide'>): Promise<() => Promise<void>> => {
  const server = await startServerProcess();
  project.provide('serverUrl', server.url);
  return async () => {
    await server[Symbol.asyncDispose]();
  };
};
