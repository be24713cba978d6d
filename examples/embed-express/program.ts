// An Express application with a login of its own, and the routes and WebSockets of the agents below /agents.
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { SvcHandler, SvcHandlerOptions } from '@svc/server';
import express, { type RequestHandler } from 'express';

interface LoggedIn {
  user?: { name: string };
}

/** A real application verifies a session or a token here. */
const names: Record<string, string> = { 'Bearer token-of-ann': 'ann', 'Bearer token-of-bob': 'bob' };

const nameOf = ({ headers }: IncomingMessage): string | undefined => names[headers.authorization ?? ''];

const login: RequestHandler = (request, _response, next) => {
  const name = nameOf(request);
  if (name !== undefined) (request as LoggedIn).user = { name };
  next();
};

export const options: SvcHandlerOptions = {
  prefix: '/agents',
  config: import.meta.dirname,
  // The second argument is the request of Express. Express calls no middleware for WebSockets: this must not need `request.user`.
  authenticate: (_request, host) => nameOf(host as IncomingMessage),
};

export const createProgram = (svc: SvcHandler): Server => {
  const program = express();
  program.use(login);
  program.use('/agents', svc.node);
  program.get('/', (request, response) => {
    response.send(`Hello, ${(request as LoggedIn).user?.name ?? 'nobody'}!`);
  });
  return createServer(program).on('upgrade', svc.upgrade);
};
