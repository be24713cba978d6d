// Whether a client reached the server by TLS, which often ends at a proxy.
import type { Cidr } from '../../net/cidr-list.ts';
import type { Credentials } from './caller.ts';
import { isTrustedProxy } from './client-address.ts';

/** Undefined when it is not known: a proxy that is not trusted may have ended the TLS connection. */
export type SchemeOf = (credentials: Credentials) => 'http' | 'https' | undefined;

/** `https` for a TLS connection to this server; otherwise what a trusted proxy says in `X-Forwarded-Proto`. */
export const createSchemeOf =
  (trusted: readonly Cidr[]): SchemeOf =>
  (credentials) => {
    if (credentials.request().url.startsWith('https:')) return 'https';
    if (!isTrustedProxy(credentials.remoteAddress, trusted)) return undefined;
    const sent = credentials.header('x-forwarded-proto')?.split(',').at(-1)?.trim().toLowerCase();
    return sent === 'http' || sent === 'https' ? sent : undefined;
  };
