// An Express application with a login of its own, and the routes of the agents below /agents.
import type { SvcHandler, SvcHandlerOptions } from '@svc/server';
import express, { type Express, type RequestHandler } from 'express';

interface LoggedIn {
  user?: { name: string };
}

/** A real application verifies a session or a token here. */
const names: Record<string, string> = { 'Bearer token-of-ann': 'ann', 'Bearer token-of-bob': 'bob' };

const login: RequestHandler = (request, _response, next) => {
  const name = names[request.headers.authorization ?? ''];
  if (name !== undefined) (request as LoggedIn).user = { name };
  next();
};

export const options: SvcHandlerOptions = {
  prefix: '/agents',
  config: import.meta.dirname,
  // The second argument is the request of Express.
  authenticate: (_request, host) => (host as LoggedIn).user?.name,
};

export const createProgram = (svc: SvcHandler): Express => {
  const program = express();
  program.use(login);
  program.use('/agents', svc.node);
  program.get('/', (request, response) => {
    response.send(`Hello, ${(request as LoggedIn).user?.name ?? 'nobody'}!`);
  });
  return program;
};
