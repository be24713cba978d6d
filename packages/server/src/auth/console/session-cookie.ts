// The cookie of a console session, and the pages that may use it. A browser adds the cookie to requests of every page of the same site, so a
// request counts only if the console itself has sent it.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Credentials } from '../principal/caller.ts';
import type { SchemeOf } from '../principal/client-address.ts';
import { sha256 } from '../sha256.ts';

const format = /^[\w-]{43}$/;

/** The cookie as text: 32 random bytes. */
export type CookieText = string;

/**
 * Browsers share cookies between the ports of a host, and Safari keeps no `Secure` cookie on plain HTTP. The prefix `__Host-` keeps other
 * hosts of the same domain from setting the cookie.
 */
export const cookieName = (credentials: Credentials, schemeOf: SchemeOf): string => {
  if (schemeOf(credentials) === 'https') return '__Host-svc-console';
  const port = /:(\d{1,5})$/.exec(credentials.header('host') ?? '')?.[1] ?? '80';
  return `svc-console-${port}`;
};

const pairsOf = (header: string): { name: string; value: string; text: string }[] =>
  header.split(';').map((text) => {
    const [name = '', ...rest] = text.split('=');
    return { name: name.trim(), value: rest.join('=').trim(), text: text.trim() };
  });

/** Undefined also for two cookies of the name: another page has set one of them. */
const onlyCookie = (header: string | undefined, name: string, valid: RegExp): string | undefined => {
  if (header?.includes(name) !== true) return undefined;
  const found = pairsOf(header).filter((pair) => pair.name === name);
  const [only] = found;
  return found.length === 1 && only !== undefined && valid.test(only.value) ? only.value : undefined;
};

export const readCookie = (header: string | undefined, name: string): CookieText | undefined =>
  onlyCookie(header, name, format);

/** A cookie with an encrypted value. */
export const readSealedCookie = (header: string | undefined, name: string): string | undefined =>
  onlyCookie(header, name, /^[\w.-]{1,4096}$/);

const isOwnName = /^(?:__host-svc-console|svc-console-\d{1,5}|(?:__secure-)?svc-console-oidc-[\w-]{8})$/i;

/** The header without cookies of the console. */
export const withoutConsoleCookies = (header: string | undefined): string | undefined => {
  if (header === undefined || !/svc-console/i.test(header)) return header;
  const others = pairsOf(header).filter(({ name }) => !isOwnName.test(name));
  return others.length === 0 ? undefined : others.map(({ text }) => text).join('; ');
};

/**
 * True when a page of this server has sent the request, or no browser has. `Sec-Fetch-Site: none` is not accepted: scripts never send it.
 * Writes of a browser always have an Origin.
 */
export const isFromOwnPage = (credentials: Credentials, schemeOf: SchemeOf): boolean => {
  const site = credentials.header('sec-fetch-site');
  if (site !== undefined && site !== 'same-origin') return false;
  const origin = credentials.header('origin');
  const { method } = credentials.request();
  if (origin === undefined) return method === 'GET' || method === 'HEAD';
  const [, scheme, host] = /^(https?):\/\/([^/]+)$/.exec(origin) ?? [];
  const known = schemeOf(credentials);
  return (
    host !== undefined &&
    host === credentials.header('host')?.toLowerCase() &&
    (known === undefined || known === scheme)
  );
};

/** Only the console of this server can read the token. It is derived from the cookie, so every node accepts it. */
export const csrfTokenOf = (cookie: CookieText): string =>
  createHmac('sha256', cookie).update('svc console csrf token').digest('base64url');

export const hasCsrfToken = (credentials: Credentials, cookie: CookieText): boolean => {
  const sent = credentials.header('x-svc-csrf');
  if (sent === undefined) return false;
  return timingSafeEqual(sha256(sent), sha256(csrfTokenOf(cookie)));
};
