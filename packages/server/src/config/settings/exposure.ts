// Who may use the server, and from which web pages, according to the settings and svc.json.
import ipaddr from 'ipaddr.js';
import { type CorsRules, stockCors, withOrigins } from './cors.ts';
import { ConfigError, type Mistake } from '../project/mistake.ts';
import type { Secret } from './secret.ts';
import type { Settings } from './settings.ts';
import type { SvcJson } from '../project/svc-json.ts';

/** How callers authenticate. */
export type AccessMode =
  /** `auth` in svc.json. */
  | { readonly kind: 'custom' }
  | { readonly kind: 'keys'; readonly keys: readonly Secret[] }
  /** Without authentication. `local`: only from this machine, so requests from web pages of other sites are rejected. */
  | { readonly kind: 'anonymous'; readonly local: boolean };

/**
 * The console is served where callers sign in, and where only this machine can reach the server: `local` also keeps pages of other sites
 * from using it.
 */
export const servesConsole = (mode: AccessMode, { http, role }: Pick<Settings, 'http' | 'role'>): boolean =>
  http.console && role !== 'worker' && (mode.kind !== 'anonymous' || mode.local);

export interface Exposure {
  readonly mode: AccessMode;
  readonly cors: CorsRules | undefined;
  /** For the operator. They do not prevent a start. */
  readonly warnings: readonly string[];
}

/** The settings that decide who may use the server. */
export const exposureKeys = ['role', 'host', 'apiKeys', 'allowAnonymous', 'corsOrigins'] as const;

/** Throws a `ConfigError` with all of its mistakes. */
export function exposureOf(settings: Settings, project: SvcJson): Exposure {
  const { exposure, mistakes } = readExposure(settings, project);
  if (mistakes.length > 0) throw new ConfigError(...mistakes);
  return exposure;
}

/** Like `exposureOf`, for a caller that reports further mistakes together with these. */
export function readExposure(
  settings: Settings,
  project: SvcJson,
): { exposure: Exposure; mistakes: Mistake[] } {
  const mode = modeOf(settings, project);
  const given = withOrigins(project.cors, settings.http.corsOrigins);
  const isStock = given === undefined && project.compat && isLoopback(settings.http.host);
  const cors = isStock ? stockCors({ isAnonymous: mode.kind === 'anonymous' }) : given;
  const mistakes = [openMistake(mode, settings), credentialsMistake(cors, settings)];
  return {
    exposure: { mode, cors, warnings: [...warn(mode, cors, settings)] },
    mistakes: mistakes.filter((mistake) => mistake !== undefined),
  };
}

function modeOf({ access, role }: Settings, { raw }: SvcJson): AccessMode {
  if (raw.auth !== undefined) return { kind: 'custom' };
  if (access.apiKeys.length > 0) return { kind: 'keys', keys: access.apiKeys };
  // A worker serves health checks and metrics only.
  return { kind: 'anonymous', local: !access.allowAnonymous && role !== 'worker' };
}

function openMistake(mode: AccessMode, { http, origins }: Settings): Mistake | undefined {
  if (mode.kind !== 'anonymous' || !mode.local || isLoopback(http.host)) return undefined;
  return {
    where: origins.host.origin,
    value: JSON.stringify(http.host),
    problem: 'opens the server to the network without authentication',
    remedy:
      'Set SVC_API_KEY, or "auth" in svc.json, or listen on 127.0.0.1. With --allow-anonymous anyone who can reach the server may use it.',
  };
}

function credentialsMistake(cors: CorsRules | undefined, { origins }: Settings): Mistake | undefined {
  if (cors === undefined || !cors.credentials || !cors.origins.has('*')) return undefined;
  const { origin } = origins.corsOrigins;
  return {
    where: origin === 'default' ? 'http.cors.allow_origins' : origin,
    value: '"*"',
    problem: 'lets every web page send requests with the cookies of its visitor',
    remedy: 'List the origins, or remove allow_credentials.',
  };
}

function* warn(mode: AccessMode, cors: CorsRules | undefined, settings: Settings): Generator<string> {
  const { access, http, origins, role } = settings;
  const isWanted = http.console && origins.console.origin !== 'default' && role !== 'worker';
  if (isWanted && !servesConsole(mode, settings))
    yield 'The console is not served: everybody who can reach the server could use it. Set SVC_API_KEY, or "auth" in svc.json.';
  if (mode.kind === 'custom' && access.apiKeys.length > 0)
    yield 'SVC_API_KEY is set and not used: "auth" in svc.json decides who may use the server.';
  if (cors !== undefined && cors.origins.size === 0 && cors.originPattern === undefined)
    yield 'http.cors names no origin: no web page of another origin may use the server.';
  if (mode.kind === 'anonymous' && cors?.origins.has('*') === true)
    yield 'CORS allows every origin and there is no authentication: any web page that is opened near this server may use it.';
}

/** Whether only this machine can connect to the host. */
function isLoopback(host: string): boolean {
  if (host.toLowerCase() === 'localhost') return true;
  return ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback';
}
