import ipaddr from 'ipaddr.js';
import type { Credentials } from './caller.ts';
import { type Address, type Cidr, isWithin } from '../../net/cidr-list.ts';

/** The address of a client, as limits count it; undefined when the client has already disconnected. */
export type AddressOf = (credentials: Pick<Credentials, 'header' | 'remoteAddress'>) => string | undefined;

/**
 * The client's address: that of the socket, or, behind a trusted proxy, the one in `X-Forwarded-For`. The header is read from its end,
 * where our proxies append, as long as each entry is a trusted proxy; earlier entries can be forged by the client. An IPv6 network (/64)
 * counts as one address, since one client usually has all of it.
 */
export const createAddressOf =
  (trusted: readonly Cidr[]): AddressOf =>
  (credentials) => {
    const { remoteAddress } = credentials;
    if (remoteAddress === undefined) return undefined;
    if (trusted.length === 0)
      return remoteAddress.includes(':') ? toKey(parse(remoteAddress)) : remoteAddress;
    let address = parse(remoteAddress);
    const hops = credentials.header('x-forwarded-for')?.split(',') ?? [];
    while (address !== undefined && isWithin(address, trusted)) {
      const before = parse(hops.pop()?.trim() ?? '');
      if (before === undefined) break;
      address = before;
    }
    return toKey(address);
  };

/** True for a loopback address. */
export const isLoopbackAddress = (address: string): boolean =>
  address.startsWith('127.') || address === '::1';

/** Parses an address with or without a port. */
const parse = (text: string): Address | undefined => {
  const [, bare] = /^\[([^\]]+)\](?::\d+)?$/.exec(text) ?? /^([\d.]+):\d+$/.exec(text) ?? [];
  const address = bare ?? text;
  return ipaddr.isValid(address) ? ipaddr.process(address) : undefined;
};

const toKey = (address: Address | undefined): string | undefined => {
  if (address === undefined || address instanceof ipaddr.IPv4) return address?.toString();
  if (address.range() === 'loopback') return '::1';
  return `${address.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
};

/** True when the peer is a trusted proxy. */
export const isTrustedProxy = (remoteAddress: string | undefined, trusted: readonly Cidr[]): boolean => {
  const address = remoteAddress === undefined ? undefined : parse(remoteAddress);
  return address !== undefined && trusted.length > 0 && isWithin(address, trusted);
};

// Whether a client reached the server by TLS, which often ends at a proxy.

/** Undefined when it is not known: a proxy that is not trusted may have ended the TLS connection. */
export type SchemeOf = (credentials: Credentials) => 'http' | 'https' | undefined;

/** `https` for a TLS connection to this server; otherwise the scheme that a trusted proxy sends in `X-Forwarded-Proto`. */
export const createSchemeOf =
  (trusted: readonly Cidr[]): SchemeOf =>
  (credentials) => {
    if (credentials.request().url.startsWith('https:')) return 'https';
    if (!isTrustedProxy(credentials.remoteAddress, trusted)) return undefined;
    const sent = credentials.header('x-forwarded-proto')?.split(',').at(-1)?.trim().toLowerCase();
    return sent === 'http' || sent === 'https' ? sent : undefined;
  };
