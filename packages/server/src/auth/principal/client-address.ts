import ipaddr from 'ipaddr.js';
import type { Credentials } from './caller.ts';
import { type Address, type Cidr, isWithin } from '../../net/cidr-list.ts';

/** Where a request comes from, as limits count it; undefined when the client has gone already. */
export type AddressOf = (credentials: Pick<Credentials, 'header' | 'remoteAddress'>) => string | undefined;

/**
 * The address of the client: of the socket, or, when that is a proxy we trust, what it says in `X-Forwarded-For`. The
 * header is read from its end, where our own proxies write, for as long as each entry is one of them: whatever
 * stands before that is what a client says of itself. Networks of IPv6 (/64) count as one, since one client has all of it.
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

/** Whether the address is this machine's own. */
export const isLoopbackAddress = (address: string): boolean =>
  address.startsWith('127.') || address === '::1';

/** With a port or without, as proxies write them. */
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
