import { createSvcHandler, type SvcHandler } from '@svc/server';
import { userOf } from './session.ts';

/** Next loads modules several times, also in one process: the handler is kept where all of them find it. */
const globals = globalThis as { agents?: Promise<SvcHandler> };

export const agents = (): Promise<SvcHandler> => (globals.agents ??= openAgents());

const openAgents = async (): Promise<SvcHandler> => {
  const handler = await createSvcHandler({
    config: process.env['AGENTS_FOLDER'] ?? process.cwd(),
    prefix: '/api/agents',
    authenticate: userOf,
  });
  // Next itself ends the process without waiting for PostgreSQL, and only when all streams have ended. With NEXT_MANUAL_SIG_HANDLE it
  // leaves signals to the application.
  if (process.env['NEXT_MANUAL_SIG_HANDLE'])
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.once(signal, () => void handler.close().finally(() => process.exit(0)));
  return handler;
};
