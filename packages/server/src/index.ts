// The package as a library: the server as a part of another program.
export { createSvcHandler, type SvcHandler, type SvcHandlerOptions } from './app/handler.ts';
export type { HostAuthenticate, HostUser } from './app/host-auth.ts';
