import { createSvcHandler, type SvcHandler } from '@svc/server';
import { userOf } from './session.ts';

/** Next loads modules several times, also in one process: the handler is kept where all of them find it. */
const globals = globalThis as { agents?: Promise<SvcHandler> };

export const agents = (): Promise<SvcHandler> =>
  (globals.agents ??= createSvcHandler({
    config: process.env['AGENTS_FOLDER'] ?? process.cwd(),
    prefix: '/api/agents',
    authenticate: userOf,
  }));
