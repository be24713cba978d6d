// Where requests of this server may go when others say where: out to the internet, not into the network around it.
// A URL is checked when it is given, and what its name resolves to at the moment of every connection, so that a
// name which changes its mind in between gains nothing.
import { lookup as resolveAll } from 'node:dns/promises';
import type { LookupAddress, LookupAllOptions } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { addressFault } from './address.ts';
import { isMetadataAddress } from './cloud-metadata.ts';
import type { AllowedHost } from './host-list.ts';

/** What a use of the guard asks beyond the rules for everybody. */
export interface EgressRules {
  readonly httpsOnly?: boolean;
  /** http:// too, but only to hosts on the allow-list. */
  readonly httpsUnlessAllowed?: boolean;
  /** Names, or `*.example.com` for whatever is below one. Absent: all. */
  readonly domains?: readonly string[];
  /** Hosts, as in `domains`, that http:// is refused for: they get secrets. Not for hosts on the allow-list, nor for this machine. */
  readonly httpsDomains?: readonly string[];
  /** In place of the usual 80 and 443. */
  readonly ports?: readonly number[];
  /** Characters. */
  readonly lengthMax?: number;
  /** This machine itself may be called, on every port when `ports` names none. */
  readonly loopback?: boolean;
}

/** A URL that passed, and the `lookup` that a request to it must be made with. */
export interface EgressTarget {
  readonly url: URL;
  readonly lookup: LookupFunction;
}

/** The message is safe to show: it names no address that was found. */
export class EgressRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'EgressRefused';
  }
}

export type Resolve = (hostname: string, options: LookupAllOptions) => Promise<LookupAddress[]>;

const usualPorts = [80, 443];
const usualLengthMax = 8_192;
/** No dot at the end either: `localhost.` is `localhost`, whatever a list of names says. */
const nameShape = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/;
/** Names for this machine or this network: refused before anybody is asked what they resolve to. */
const innerName = /(^|\.)(localhost|localdomain|internal|local)$/;

export class EgressGuard {
  readonly #allow: readonly AllowedHost[];
  readonly #resolve: Resolve;

  constructor(allow: readonly AllowedHost[] = [], resolve: Resolve = resolveAll) {
    this.#allow = allow;
    this.#resolve = resolve;
  }

  /** Throws EgressRefused with a sentence for whoever gave the URL. What is returned is what was checked. */
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
        'must begin with https://, for this host is not on the list of SVC_EGRESS_ALLOW',
      );
    if (!isAllowed) checkHost(url, rules);
    if (
      url.protocol === 'http:' &&
      !isAllowed &&
      isOn(url.hostname, rules.httpsDomains ?? []) &&
      !isLoopback(url.hostname)
    )
      throw new EgressRefused('must begin with https://, since this host gets headers with secrets');
    if (isMetadataAddress(url.hostname))
      throw new EgressRefused('must not name a private or reserved address');
    return { url, lookup: this.#lookup(isAllowed ? undefined : rules) };
  }

  /** Whether the operator has put the host on the allow-list. */
  isAllowed(url: URL): boolean {
    return this.#allow.some(
      ({ host, port }) => host === url.hostname && (port === undefined || port === portOf(url)),
    );
  }

  /** For names only: Node asks nobody about a literal address, which is why check() does. */
  #lookup(rules: EgressRules | undefined): LookupFunction {
    return (hostname, options, callback) => {
      const { all: wantsAll = false, ...rest } = options;
      const answer = async (): Promise<[LookupAddress, ...LookupAddress[]]> => {
        const [first, ...others] = await this.#resolve(hostname, { ...rest, all: true });
        if (first === undefined) throw new Error('The name has no address');
        // One bad address among good ones is enough: which one a connection would take is not ours to say.
        const isRefused = ({ address }: LookupAddress): boolean =>
          isMetadataAddress(address) || (rules !== undefined && addressFault(address, rules) !== undefined);
        if ([first, ...others].some(isRefused))
          throw new EgressRefused('resolves to an address that may not be called');
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

/** Whether a host is on a list of names, or of `*.example.com` for whatever is below one. */
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
