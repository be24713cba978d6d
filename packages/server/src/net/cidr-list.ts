// A comma-separated list of networks and addresses: `10.0.0.0/8, 192.168.1.7, fd00::/8`.
import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** The network's first address, and how many of its bits count. */
export type Cidr = readonly [Address, number];

/** Undefined when it is no such list. */
export function parseCidrList(text: string): Cidr[] | undefined {
  const list = text.split(',').map((entry) => parseCidr(entry.trim()));
  return list.every((cidr) => cidr !== undefined) ? list : undefined;
}

export function formatCidrList(list: readonly Cidr[]): string {
  return list.map(([address, bits]) => `${address.toString()}/${bits}`).join(', ');
}

/** `address` must not be wrapped: a v4 address is one, not `::ffff:10.0.0.1`. */
export function isWithin(address: Address, list: readonly Cidr[]): boolean {
  return list.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));
}

function parseCidr(entry: string): Cidr | undefined {
  if (ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry);
  // `010.1` and the like are addresses to some parsers and others to the next.
  if (ipaddr.IPv4.isValidFourPartDecimal(entry)) return [ipaddr.IPv4.parse(entry), 32];
  return ipaddr.IPv6.isValid(entry) ? [ipaddr.IPv6.parse(entry), 128] : undefined;
}
