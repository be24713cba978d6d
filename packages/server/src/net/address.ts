// Tells public IP addresses from private and reserved ones.
import ipaddr from 'ipaddr.js';
import { isMetadataAddress } from './cloud-metadata.ts';

/** The part of IPv6 from which addresses are assigned. */
const global6 = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Why requests to an address are forbidden, or undefined. Only public addresses are allowed. Addresses that contain another one
 * (v4-mapped, NAT64, 6to4, Teredo) are forbidden, because the network decides where they lead.
 */
export const addressFault = (
  text: string,
  { loopback = false }: { loopback?: boolean } = {},
): string | undefined => {
  if (!ipaddr.isValid(text)) return 'unreadable';
  const address = ipaddr.parse(text);
  const range = address.range();
  if (range === 'loopback' && loopback) return undefined;
  if (range !== 'unicast') return range;
  if (isMetadataAddress(text)) return 'metadata';
  return address instanceof ipaddr.IPv6 && !address.match(global6) ? 'reserved' : undefined;
};
