// Who may reach the server, and from which web pages: what settings and svc.json say together.
import ipaddr from 'ipaddr.js';
import { withOrigins } from './cors.ts';
import type { CorsRules } from './cors.ts';
import { ConfigError } from '../project/mistake.ts';
import type { Mistake } from '../project/mistake.ts';
import type { Secret } from './secret.ts';
import type { Settings } from './settings.ts';
import type { SvcJson } from '../project/svc-json.ts';

/** How the server learns who makes a request. */
export type AccessMode =
  /** `auth` in svc.json. */
  | { readonly kind: 'custom' }
  | { readonly kind: 'keys'; readonly keys: readonly Secret[] }
  /** Not at all. `local`: whoever is on this machine, and so nobody else must get in through their browser. */
  | { readonly kind: 'anonymous'; readonly local: boolean };

export interface Exposure {
  readonly mode: AccessMode;
  readonly cors: CorsRules | undefined;
  /** Sentences for the operator: nothing that stops a start. */
  readonly warnings: readonly string[];
}

/** Throws a `ConfigError` with all of its mistakes. */
export function exposureOf(settings: Settings, project: SvcJson): Exposure {
  const { exposure, mistakes } = readExposure(settings, project);
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return exposure;
}

/** Like `exposureOf`, for a caller that has mistakes of its own to report in the same breath. */
export function readExposure(
  settings: Settings,
  project: SvcJson,
): { exposure: Exposure; mistakes: Mistake[] } {
  const mode = modeOf(settings, project);
  const cors = withOrigins(project.cors, settings.http.corsOrigins);
  const mistakes = [openMistake(mode, settings), credentialsMistake(cors, settings)];
  return {
    exposure: { mode, cors, warnings: [...warn(mode, cors, settings)] },
    mistakes: mistakes.filter((mistake) => mistake !== undefined),
  };
}

function modeOf({ access, role }: Settings, { raw }: SvcJson): AccessMode {
  if (raw.auth !== undefined) return { kind: 'custom' };
  if (access.apiKeys.length > 0) return { kind: 'keys', keys: access.apiKeys };
  // A worker only says how it is, to whatever watches it.
  return { kind: 'anonymous', local: !access.allowAnonymous && role !== 'worker' };
}

function openMistake(mode: AccessMode, { http, origins }: Settings): Mistake | undefined {
  if (mode.kind !== 'anonymous' || !mode.local || isLoopback(http.host)) return undefined;
  return {
    where: origins.host.origin,
    value: JSON.stringify(http.host),
    problem: 'opens the server to the network, and nothing says who may use it',
    remedy:
      'Set SVC_API_KEY, or "auth" in svc.json; else listen on 127.0.0.1. --allow-anonymous serves whoever can reach it.',
  };
}

function credentialsMistake(cors: CorsRules | undefined, { origins }: Settings): Mistake | undefined {
  if (cors === undefined || !cors.credentials || !cors.origins.has('*')) return undefined;
  const { origin } = origins.corsOrigins;
  return {
    where: origin === 'default' ? 'http.cors.allow_origins' : origin,
    value: '"*"',
    problem: 'lets every web page act with the cookies of whoever opens it',
    remedy: 'Name the origins, or leave allow_credentials out.',
  };
}

function* warn(mode: AccessMode, cors: CorsRules | undefined, { access }: Settings): Generator<string> {
  if (mode.kind === 'custom' && access.apiKeys.length > 0)
    yield 'SVC_API_KEY is set and not used: "auth" in svc.json decides who may use the server.';
  if (cors !== undefined && cors.origins.size === 0 && cors.originPattern === undefined)
    yield 'http.cors names no origin: no web page of another origin may use the server.';
  if (mode.kind === 'anonymous' && cors?.origins.has('*') === true)
    yield 'CORS allows every origin and there is no authentication: any web page that is opened near this server may use it.';
}

/** Whether only this machine can reach what listens there. */
function isLoopback(host: string): boolean {
  if (host.toLowerCase() === 'localhost') return true;
  return ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback';
}
