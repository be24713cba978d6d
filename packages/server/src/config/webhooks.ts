// The `webhooks` section of svc.json: where webhooks may go, and the headers they carry.
import type { EgressRules } from '../egress/guard.ts';
import type { Mistake } from './mistake.ts';
import { Secret } from './secret.ts';
import type { WebhooksSection } from './svc-json-schema.ts';

export interface WebhookRules {
  /** Names in lower case. Values may hold what only the operator knows. */
  readonly headers: ReadonlyMap<string, Secret>;
  readonly url: EgressRules;
}

/** What the request is made of, and what receivers trust: not for headers of the deployment. */
const ownHeader =
  /^(host|connection|content-length|content-type|transfer-encoding|te|upgrade|expect|svc-.*)$/;
const headerName = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;
const template = /\$\{\{\s*env\.(\w+)\s*\}\}/g;
const signingKey = 'SVC_WEBHOOK_SECRET';

export interface WebhookSources {
  section: WebhooksSection | undefined;
  compat: boolean;
  /** Of the process and of the file: only those with the prefix can get into a header. */
  env: Readonly<Record<string, string>>;
  where: (path: string[]) => string;
  mistakes: Mistake[];
}

export function readWebhookRules(sources: WebhookSources): WebhookRules {
  const { section = {}, where, mistakes } = sources;
  const headers = new Map<string, Secret>();
  for (const [given, text] of Object.entries(section.headers ?? {})) {
    const name = given.toLowerCase();
    const value = nameFault(name, headers) ?? fill(text, sources);
    if (typeof value === 'string') headers.set(name, new Secret(value));
    else mistakes.push({ where: where(['webhooks', 'headers', given]), ...value });
  }
  return { headers, url: urlRules(section.url ?? {}) };
}

type Fault = Omit<Mistake, 'where'>;

function nameFault(name: string, others: ReadonlyMap<string, Secret>): Fault | undefined {
  if (!headerName.test(name))
    return { problem: 'is not the name of a header', remedy: 'Use letters, digits and hyphens.' };
  if (ownHeader.test(name))
    return { problem: 'is a header that the server sets itself', remedy: 'Leave it out.' };
  return others.has(name)
    ? { problem: 'is there twice', remedy: 'Names of headers must differ by more than their case.' }
    : undefined;
}

/** The value with its variables filled in. */
function fill(text: string, { section, compat, env }: WebhookSources): string | Fault {
  const prefix = section?.env_prefix ?? (compat ? 'LG_WEBHOOK_' : 'SVC_WEBHOOK_');
  for (const [, name = ''] of text.matchAll(template)) {
    if (!name.startsWith(prefix) || name === signingKey)
      return {
        problem: `the variable ${name} may not be sent with webhooks`,
        remedy: `Name it ${prefix}…, or set "env_prefix". ${signingKey} is never sent.`,
      };
    if (!Object.hasOwn(env, name))
      return {
        problem: `the variable ${name} is not set`,
        remedy: `Start with ${name}=… in the environment.`,
      };
  }
  if (text.replaceAll(template, '').includes('${{'))
    return { problem: 'holds a template that cannot be read', remedy: 'Write ${{ env.NAME }}.' };
  const filled = text.replaceAll(template, (_, name: string) => env[name] ?? '');
  return headerValue.test(filled)
    ? filled
    : { problem: 'holds characters that no header can have', remedy: 'Leave out line breaks and the like.' };
}

function urlRules(url: NonNullable<WebhooksSection['url']>): EgressRules {
  return {
    httpsOnly: url.require_https ?? false,
    loopback: url.disable_loopback === false,
    ...(url.allowed_domains ? { domains: url.allowed_domains.map((domain) => domain.toLowerCase()) } : {}),
    ...(url.allowed_ports ? { ports: url.allowed_ports } : {}),
    ...(url.max_url_length === undefined ? {} : { lengthMax: url.max_url_length }),
  };
}
