// The `webhooks` section of svc.json: allowed URLs of webhooks, and their headers. Clients choose the URLs, so headers with secrets are
// sent only to hosts that the operator has listed.
import type { EgressRules } from '../../net/guard.ts';
import type { Mistake } from './mistake.ts';
import { Secret } from '../settings/secret.ts';
import type { WebhooksSection } from './svc-json-schema.ts';

export interface WebhookRules {
  /** Sent to every host. Names in lower case. */
  readonly headers: ReadonlyMap<string, Secret>;
  /** Sent to `secretDomains` only. */
  readonly secretHeaders: ReadonlyMap<string, Secret>;
  /** Not empty when there are secret headers. */
  readonly secretDomains: readonly string[];
  readonly url: EgressRules;
}

/** Headers of the request itself, and those that receivers trust: the deployment must not set them. */
const ownHeader =
  /^(host|connection|content-length|content-type|transfer-encoding|te|upgrade|expect|svc-.*)$/;
const headerName = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Headers for credentials. They count as secrets also when the value is in the file. */
const credentialName =
  /(^|[-_.])(cookie|auth|authorization|token|secret|password|credentials?|signature|key|apikey)([-_.]|$)/;
const template = /\$\{\{\s*env\.(\w+)\s*\}\}/g;
const signingKey = 'SVC_WEBHOOK_SECRET';

export interface WebhookSources {
  section: WebhooksSection | undefined;
  compat: boolean;
  /** Variables of the process and of the file. Only those with the prefix can be used in headers. */
  env: Readonly<Record<string, string>>;
  where: (path: string[]) => string;
  mistakes: Mistake[];
}

export function readWebhookRules(sources: WebhookSources): WebhookRules {
  const { section = {}, where, mistakes } = sources;
  const url = urlRules(section.url ?? {});
  const secretDomains = section.secret_domains?.map((domain) => domain.toLowerCase()) ?? url.domains ?? [];
  const headers = new Map<string, Secret>();
  const secretHeaders = new Map<string, Secret>();
  const names = new Set<string>();
  for (const [given, text] of Object.entries(section.headers ?? {})) {
    const name = given.toLowerCase();
    const isSecret = text.includes('${{') || credentialName.test(name);
    const filled = nameFault(name, names) ?? fill(text, sources);
    const isOpen = typeof filled === 'string' && isSecret && secretDomains.length === 0;
    const value = isOpen ? openSecret : filled;
    names.add(name);
    if (typeof value === 'string') (isSecret ? secretHeaders : headers).set(name, new Secret(value));
    else mistakes.push({ where: where(['webhooks', 'headers', given]), ...value });
  }
  const httpsDomains = secretHeaders.size > 0 ? { httpsDomains: secretDomains } : {};
  return { headers, secretHeaders, secretDomains, url: { ...url, ...httpsDomains } };
}

const openSecret: Fault = {
  problem: 'contains a secret that would be sent to any URL that a client chooses',
  remedy:
    'List the hosts that may receive it in "webhooks.secret_domains", or all hosts that webhooks may go to in "webhooks.url.allowed_domains".',
};

type Fault = Omit<Mistake, 'where'>;

function nameFault(name: string, others: ReadonlySet<string>): Fault | undefined {
  if (!headerName.test(name))
    return { problem: 'is not the name of a header', remedy: 'Use letters, digits and hyphens.' };
  if (ownHeader.test(name))
    return { problem: 'is a header that the server sets itself', remedy: 'Leave it out.' };
  return others.has(name)
    ? { problem: 'occurs twice', remedy: 'Names of headers must differ by more than case.' }
    : undefined;
}

/** Replaces the variables of a header value. */
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
    return { problem: 'contains an invalid template', remedy: 'Write ${{ env.NAME }}.' };
  const filled = text.replaceAll(template, (_, name: string) => env[name] ?? '');
  return headerValue.test(filled)
    ? filled
    : {
        problem: 'contains characters that headers cannot contain',
        remedy: 'Remove line breaks and control characters.',
      };
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
