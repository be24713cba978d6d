// Webhooks with a path instead of a URL: they go to a route of the project's custom app, in the process that sends them.

/** Stored URLs begin with it, so every stored URL has an origin. */
const scheme = 'svc://';

/** The URL that is stored for a webhook with a path; undefined unless the text is a path with an optional query. */
export const ownWebhookUrl = (webhook: string): string | undefined => {
  const base = 'http://localhost';
  if (!webhook.startsWith('/') || !URL.canParse(webhook, base)) return undefined;
  const { origin, pathname, search } = new URL(webhook, base);
  return origin === base ? `${scheme}${pathname}${search}` : undefined;
};

/** The path and query of a stored URL; undefined for the URL of another server. */
export const ownWebhookPath = (url: string): string | undefined =>
  url.startsWith(`${scheme}/`) ? url.slice(scheme.length) : undefined;

/** Sends a webhook to the custom app; resolves with the status. */
export type SendOwnWebhook = (
  path: string,
  body: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
) => Promise<number>;

/** The name by which `secret_domains` refers to this server. */
export const ownHost = 'localhost';
