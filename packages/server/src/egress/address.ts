// Which addresses of the internet protocol are someone else's, out on the internet.
import ipaddr from 'ipaddr.js';

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
  return address instanceof ipaddr.IPv6 && !address.match(global6) ? 'reserved' : undefined;
};

/** Where clouds tell a machine its own credentials: nothing that others ask for goes there, whatever an allow-list says. */
const metadataAddresses = [
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '100.100.100.200',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
].map((text) => ipaddr.parse(text).toNormalizedString());

/** Of an address, in brackets or without, also one of IPv4 inside one of IPv6; false for a name. */
export const isMetadataAddress = (text: string): boolean => {
  const literal = text.startsWith('[') ? text.slice(1, -1) : text;
  return ipaddr.isValid(literal) && metadataAddresses.includes(ipaddr.process(literal).toNormalizedString());
};
