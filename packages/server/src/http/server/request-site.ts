// Finds out which web page, if any, sent a request. A browser adds cookies and stored logins to the requests of every page, so these
// credentials do not identify the page. https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/Sec-Fetch-Site
import type { IncomingHttpHeaders } from 'node:http';
import { Problem } from '@svc/contract/problem';
import type { CorsRules } from '../../config/settings/cors.ts';
import { Cors } from './cors.ts';

export interface SiteRules {
  /** True when CORS allows pages of an origin to use the server. */
  allows: (origin: string) => boolean;
  /** True when callers need no credential, so that any request could come from a page. */
  sameSite: boolean;
}

/**
 * `own`: sent by a page of this server or of an allowed origin, not sent by a browser, or sent with a credential that browsers do not
 * add by themselves. `foreign`: sent by a page of another origin. `unknown`: sent with a cookie, and without a header that shows the
 * origin.
 */
export type RequestSite = 'own' | 'foreign' | 'unknown';

/** Authorization schemes of logins that browsers store. */
const rememberedLogin = /^(?:basic|digest|negotiate|ntlm)\b/i;
/** Headers that a page of another origin may send only after a preflight. */
const provingHeaders = ['authorization', 'x-api-key', 'x-requested-with'];

export const siteOf = (headers: IncomingHttpHeaders, { allows, sameSite }: SiteRules): RequestSite => {
  const { cookie, authorization, origin, host, referer } = headers;
  const isRemembered = cookie !== undefined || rememberedLogin.test(authorization ?? '');
  if (!isRemembered && !sameSite) return 'own';
  if (origin !== undefined && allows(origin)) return 'own';
  const site = headers['sec-fetch-site'];
  if (site === 'same-origin' || site === 'none') return 'own';
  if (origin !== undefined) return isOwn(origin, host) ? 'own' : 'foreign';
  if (site !== undefined) return 'foreign';
  // Not a browser, or an old one, or one on plain http: these send neither header.
  if (!isRemembered || (referer !== undefined && isOwn(originOf(referer), host))) return 'own';
  const hasProof = provingHeaders.some((name) => {
    const value = headers[name];
    return typeof value === 'string' && !(name === 'authorization' && rememberedLogin.test(value));
  });
  return hasProof ? 'own' : 'unknown';
};

const isOwn = (origin: string, host: string | undefined): boolean =>
  host !== undefined && origin.replace(/^https?:\/\//, '') === host.toLowerCase();

const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : '');

export const foreignPage = (): Problem =>
  new Problem(
    'forbidden',
    'Web pages of other origins may not use this server. To allow an origin, set SVC_CORS_ORIGINS, or http.cors in svc.json.',
  );

/** The rules for `siteOf` of a server with these options. */
export const siteRules = ({
  cors: rules,
  sameSite,
}: {
  cors?: CorsRules | undefined;
  sameSite?: boolean | undefined;
}): SiteRules => {
  const cors = rules && new Cors(rules);
  return { allows: (origin) => cors?.allows(origin) ?? false, sameSite: sameSite === true };
};
