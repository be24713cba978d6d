import { createServer, type Server } from 'node:http';
import { Problem } from '@svc/contract/problem';

/** Throws a Problem when the address cannot be bound. Called before the database is opened and keys are created. */
export const assertBindable = async (host: string, port: number): Promise<void> => {
  const server = createServer();
  await bind(server, host, port);
  await new Promise((resolve) => server.close(resolve));
};

/** Throws a Problem that explains why the address cannot be used. */
export const bind = (server: Server, host: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => reject(bindProblem(cause, host, port)));
    server.listen(port, host, resolve);
  });

const bindProblem = (cause: NodeJS.ErrnoException, host: string, port: number): Problem => {
  const reasons: Record<string, string> = {
    EADDRINUSE: `Port ${port} on ${host} is in use; stop the program that uses it, or choose another port with --port.`,
    EACCES: `Port ${port} on ${host} requires privileges that this process lacks; choose one above 1023 with --port.`,
    EADDRNOTAVAIL: `This machine has no address ${host}; choose another with --host.`,
    ENOTFOUND: `The host ${host} has no address; choose another with --host.`,
  };
  const sentence = reasons[cause.code ?? ''] ?? `Cannot listen on ${host}:${port}: ${cause.message}.`;
  return new Problem('unavailable', sentence, { cause });
};
