// Which addresses of the internet protocol are someone else's, out on the internet.
import ipaddr from 'ipaddr.js';
import { isMetadataAddress } from './cloud-metadata.ts';

/** All of IPv6 that has been given to anybody. */
const global6 = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Why an address may not be called, or undefined. Everything is forbidden that is not plainly public: also what
 * wraps another address (v4-mapped, NAT64, 6to4, Teredo), since where that leads is not for us to guess.
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
