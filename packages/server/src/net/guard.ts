// The egress guard: requests to URLs that clients choose may go to the internet, but not into the network of the server.
// The URL is checked when it is given. The addresses of its host are checked at every connection, because a name can resolve to
// another address by then.
import { lookup as resolveAll } from 'node:dns/promises';
import type { LookupAddress, LookupAllOptions } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { AllowedHost } from './host-list.ts';

/** Rules of one use of the guard, in addition to those that always apply. */
export interface EgressRules {
  readonly httpsOnly?: boolean;
  /** Allows http:// only for hosts on the allow-list. */
  readonly httpsUnlessAllowed?: boolean;
  /** Allowed names; `*.example.com` is every name below example.com. Undefined: all. */
  readonly domains?: readonly string[];
  /** Hosts, as in `domains`, that receive secrets: http:// is refused for them, except on the allow-list and on this machine. */
  readonly httpsDomains?: readonly string[];
  /** Allowed ports. Undefined: 80 and 443. */
  readonly ports?: readonly number[];
  /** Of the URL, in characters. */
  readonly lengthMax?: number;
  /** Allows requests to this machine, on every port when `ports` is undefined. */
  readonly loopback?: boolean;
}

/** A URL that passed, and the `lookup` that the request must use. */
export interface EgressTarget {
  readonly url: URL;
  readonly lookup: LookupFunction;
}

/** The message is safe to show: it does not contain resolved addresses. */
export class EgressRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'EgressRefused';
  }
}

export type Resolve = (hostname: string, options: LookupAllOptions) => Promise<LookupAddress[]>;

const usualPorts = [80, 443];
/** Of a URL, in characters. */
export const usualLengthMax = 8_192;
/** A dot at the end is refused: `localhost.` is `localhost`. */
const nameShape = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/;
/** Names of this machine or network: refused without a DNS query. */
const innerName = /(^|\.)(localhost|localdomain|internal|local)$/;

export class EgressGuard {
  readonly #allow: readonly AllowedHost[];
  readonly #resolve: Resolve;

  constructor(allow: readonly AllowedHost[] = [], resolve: Resolve = resolveAll) {
    this.#allow = allow;
    this.#resolve = resolve;
  }

  /** Throws EgressRefused, with a message for the sender of the URL. Use the returned URL: it is the one that was checked. */
  check(text: string, rules: EgressRules = {}): EgressTarget {
    const { lengthMax = usualLengthMax } = rules;
    if (text.length > lengthMax) throw new EgressRefused(`must be at most ${lengthMax} characters`);
    if (!URL.canParse(text)) throw new EgressRefused('must be an absolute URL');
    const url = new URL(text);
    url.hash = '';
    if (url.protocol !== 'https:' && (url.protocol !== 'http:' || rules.httpsOnly === true))
      throw new EgressRefused(`must begin with ${rules.httpsOnly ? 'https://' : 'https:// or http://'}`);
    if (url.username !== '' || url.password !== '')
      throw new EgressRefused('must not contain a user name or password');
    checkDomain(url.hostname, rules.domains);
    const isAllowed = this.isAllowed(url);
    if (rules.httpsUnlessAllowed === true && url.protocol === 'http:' && !isAllowed)
      throw new EgressRefused(
        'must begin with https://, because this host is not listed in SVC_EGRESS_ALLOW',
      );
    if (!isAllowed) checkHost(url, rules);
    if (
      url.protocol === 'http:' &&
      !isAllowed &&
      isOn(url.hostname, rules.httpsDomains ?? []) &&
      !isLoopback(url.hostname)
    )
      throw new EgressRefused('must begin with https://, because this host receives headers with secrets');
    if (isMetadataAddress(url.hostname))
      throw new EgressRefused('must not name a private or reserved address');
    return { url, lookup: this.#lookup(isAllowed ? undefined : rules) };
  }

  /** Whether the host is on the operator's allow-list. */
  isAllowed(url: URL): boolean {
    return this.#allow.some(
      ({ host, port }) => host === url.hostname && (port === undefined || port === portOf(url)),
    );
  }

  /** For names only: Node resolves no literal addresses, so check() checks those. */
  #lookup(rules: EgressRules | undefined): LookupFunction {
    return (hostname, options, callback) => {
      const { all: wantsAll = false, ...rest } = options;
      const answer = async (): Promise<[LookupAddress, ...LookupAddress[]]> => {
        const [first, ...others] = await this.#resolve(hostname, { ...rest, all: true });
        if (first === undefined) throw new Error('The name has no address');
        // One forbidden address is enough, because the connection may use any of them.
        const isRefused = ({ address }: LookupAddress): boolean =>
          isMetadataAddress(address) || (rules !== undefined && addressFault(address, rules) !== undefined);
        if ([first, ...others].some(isRefused))
          throw new EgressRefused('resolves to an address to which requests are forbidden');
        return [first, ...others];
      };
      answer().then(
        (found) => (wantsAll ? callback(null, found) : callback(null, found[0].address, found[0].family)),
        (error: unknown) => callback(error as NodeJS.ErrnoException, []),
      );
    };
  }
}

const portOf = (url: URL): number =>
  url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);

/** Whether a host is on a list of names; `*.example.com` is every name below example.com. */
export const isOn = (hostname: string, domains: readonly string[]): boolean =>
  domains.some((domain) =>
    domain.startsWith('*.') ? hostname.endsWith(domain.slice(1)) : hostname === domain,
  );

const checkDomain = (hostname: string, domains: readonly string[] | undefined): void => {
  if (domains && !isOn(hostname, domains))
    throw new EgressRefused(`must be on one of these domains: ${domains.join(', ')}`);
};

const literalOf = (hostname: string): string => (hostname.startsWith('[') ? hostname.slice(1, -1) : hostname);

const isLoopback = (hostname: string): boolean => {
  const literal = literalOf(hostname);
  return isIP(literal) === 0 ? /(^|\.)localhost$/.test(hostname) : addressFault(literal) === 'loopback';
};

const checkHost = (url: URL, { ports, loopback = false }: EgressRules): void => {
  const { hostname } = url;
  const literal = literalOf(hostname);
  const isLiteral = isIP(literal) !== 0;
  const opened = loopback && isLoopback(hostname);
  if (isLiteral && !opened && addressFault(literal) !== undefined)
    throw new EgressRefused('must not name a private or reserved address');
  if (!isLiteral && !nameShape.test(hostname))
    throw new EgressRefused('must name a host by letters, digits and hyphens, without a dot at its end');
  if (!isLiteral && !opened && innerName.test(hostname))
    throw new EgressRefused('must not name a host of this machine or network');
  const allowedPorts = ports ?? (opened ? undefined : usualPorts);
  if (allowedPorts && !allowedPorts.includes(portOf(url)))
    throw new EgressRefused(`must use one of these ports: ${allowedPorts.join(', ')}`);
};

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

// Addresses where a cloud serves credentials, configuration or certificates to its machines. Requests to them are always refused, also when
// an allow-list names them. All link-local addresses count: most clouds use 169.254.169.254, several use others (169.254.42.42, 169.254.0.23).

/** Addresses that are not link-local, with the provider's page about them. */
const providerAddresses = [
  // Azure, WireServer: https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16. A public address.
  '168.63.129.16',
  // Equinix Metal, metadata.platformequinix.com: https://deploy.equinix.com/developers/docs/metal/server-metadata/metadata/. A public address.
  '192.80.8.124',
  // Alibaba Cloud: https://www.alibabacloud.com/help/ecs/user-guide/view-instance-metadata
  '100.100.100.200',
  // Oracle Cloud Infrastructure Classic: https://docs.oracle.com/en/cloud/iaas/compute-iaas-cloud/stcsg/retrieving-instance-metadata.html
  '192.0.0.192',
  // AWS, EC2: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html
  'fd00:ec2::254',
  // AWS, EKS Pod Identity (169.254.170.23 too): https://docs.aws.amazon.com/eks/latest/userguide/pod-id-how-it-works.html
  'fd00:ec2::23',
  // Google Cloud: https://cloud.google.com/compute/docs/metadata/querying-metadata
  'fd20:ce::254',
  // Oracle Cloud Infrastructure: https://docs.oracle.com/iaas/Content/Compute/Tasks/gettingmetadata.htm
  'fd00:c1::a9fe:a9fe',
  // Scaleway (169.254.42.42 too): https://www.scaleway.com/en/docs/instances/reference-content/understanding-instance-metadata/
  'fd00:42::42',
  // Akamai (Linode): https://techdocs.akamai.com/cloud-computing/docs/overview-of-the-metadata-service
  'fd00:a9fe:a9fe::1',
].map((text) => ipaddr.parse(text).toNormalizedString());

/** Prefixes of IPv6 addresses that contain an IPv4 address, and the index of its first byte. */
const wrappers = (
  [
    ['::ffff:0:0/96', 12],
    ['::ffff:0:0:0/96', 12],
    ['64:ff9b::/96', 12],
    ['64:ff9b:1::/48', 12],
    ['2002::/16', 2],
  ] as const
).map(([prefix, at]) => ({ prefix: ipaddr.IPv6.parseCIDR(prefix), at }));

const unwrapped = (address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 => {
  if (address instanceof ipaddr.IPv4) return address;
  const wrapper = wrappers.find(({ prefix }) => address.match(prefix));
  return wrapper ? new ipaddr.IPv4(address.toByteArray().slice(wrapper.at, wrapper.at + 4)) : address;
};

/** Takes an address, with or without brackets, also IPv4 in IPv6. False for a name. */
const isMetadataAddress = (text: string): boolean => {
  const literal = text.startsWith('[') ? text.slice(1, -1) : text;
  if (!ipaddr.isValid(literal)) return false;
  const address = unwrapped(ipaddr.parse(literal));
  return address.range() === 'linkLocal' || providerAddresses.includes(address.toNormalizedString());
};
