// A comma-separated list of networks and addresses: `10.0.0.0/8, 192.168.1.7, fd00::/8`.
import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** The first address of the network, and the length of the prefix in bits. */
export type Cidr = readonly [Address, number];

/** Undefined when the text is not such a list. */
export function parseCidrList(text: string): Cidr[] | undefined {
  const list = text.split(',').map((entry) => parseCidr(entry.trim()));
  return list.every((cidr) => cidr !== undefined) ? list : undefined;
}

export function formatCidrList(list: readonly Cidr[]): string {
  return list.map(([address, bits]) => `${address.toString()}/${bits}`).join(', ');
}

/** `address` must be IPv4 or IPv6 itself, not IPv4 in IPv6 (`::ffff:10.0.0.1`). */
export function isWithin(address: Address, list: readonly Cidr[]): boolean {
  return list.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));
}

function parseCidr(entry: string): Cidr | undefined {
  if (ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry);
  // Parsers differ about addresses such as `010.1`.
  if (ipaddr.IPv4.isValidFourPartDecimal(entry)) return [ipaddr.IPv4.parse(entry), 32];
  return ipaddr.IPv6.isValid(entry) ? [ipaddr.IPv6.parse(entry), 128] : undefined;
}
