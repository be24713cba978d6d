// Sessions of the console. A browser exchanges a credential for a cookie, which scripts cannot read.
import * as z from 'zod';
import { Empty, Id, nullish, Time } from '../json.ts';
import { KeyRole } from '../platform/keys.ts';
import { routesOf } from '../route.ts';

const route = routesOf('Console');
const path = '/console/auth/session';
const cookieRule =
  'Pages of other origins get no session: Origin and Sec-Fetch-Site must name the origin of the server.';
const csrfHeader = { 'x-svc-csrf': 'The `csrf_token` of the session' };

export const ConsoleSession = z
  .object({
    sign_in: z
      .object({
        kind: z
          .enum(['none', 'key', 'bearer', 'header', 'oidc', 'undeclared'])
          .describe(
            'What the deployment API takes: nothing, an API key, a bearer token, a header, or a sign-in at a provider (`oidc`). `undeclared`: it has custom authentication, and svc.json has no `console.auth`',
          ),
        header: z.string().nullable().describe('The name of the header, for the kind `header`'),
        provider: z.string().nullable().describe('The host of the provider, for the kind `oidc`'),
      })
      .describe('How to sign in to the deployment API'),
    deployment: z
      .object({
        identity: z.string().nullable().describe('The user, with custom authentication'),
        graphs: z.array(z.string()).describe('The graphs of svc.json, in its order'),
        admin_key_file: z
          .string()
          .nullable()
          .describe(
            'The file with the API key that the first start has generated. Null where there is none, and with custom authentication',
          ),
      })
      .nullable()
      .describe('Null while the deployment API is not open to this browser'),
    workspace: z
      .object({
        id: z.uuid(),
        role: KeyRole,
        is_local: z
          .boolean()
          .describe('True without a sign-in: on this machine, everybody may look at the workspace `default`'),
      })
      .nullable()
      .describe(
        'The workspace whose traces, exports and keys are open to this browser, and the role of the key',
      ),
    csrf_token: z.string().nullable().describe('Null without a session'),
    expires_at: Time.nullable().describe('When the session ends at the latest'),
  })
  .meta({ id: 'ConsoleSession' });
export type ConsoleSession = z.output<typeof ConsoleSession>;

export const ListedSession = z
  .object({
    id: z.string().describe('Names the session; it is not the cookie'),
    browser: z.string().nullable().describe('The User-Agent that has signed in'),
    created_at: Time,
    seen_at: Time.describe('The last request, accurate to a minute'),
    expires_at: Time.describe('When the session ends at the latest'),
    is_current: z.boolean().describe('The session of this browser'),
  })
  .meta({ id: 'ListedSession' });
export type ListedSession = z.output<typeof ListedSession>;

/** Longer than any token that fits into the headers of a request. */
const secret = z.string().min(1).max(12_000);

export const ConsoleSignIn = z
  .object({
    key: nullish(secret).describe('A key: tried as API key of the deployment API, and as key of a workspace'),
    token: nullish(secret).describe(
      'With custom authentication: the bearer token, or the value of the header',
    ),
    workspace_id: nullish(Id).describe('Which workspace, for a key that has access to several'),
  })
  .meta({ id: 'ConsoleSignIn' });
export type ConsoleSignIn = z.output<typeof ConsoleSignIn>;

/**
 * Why a sign-in at the provider has failed: the user has refused; it took longer than ten minutes, or was begun in another browser; the
 * provider cannot be reached, or its answer is not valid; `authenticate` accepts no such user.
 */
export const oidcFaults = ['denied', 'expired', 'provider', 'refused'] as const;
export type OidcFault = (typeof oidcFaults)[number];

export const consoleRoutes = {
  getConsoleSession: route('get', path, {
    summary: 'How to sign in to the console, and what the session of this browser opens',
    description: cookieRule,
    access: 'public',
    response: ConsoleSession,
  }),
  createConsoleSession: route('post', path, {
    summary: 'Sign in: exchange a key or a token for the cookie of a session',
    description: `The body has either \`key\` or \`token\`. ${cookieRule} With the cookie and the CSRF token of a session, the new session keeps what that one opened, and replaces it.`,
    access: 'public',
    body: ConsoleSignIn,
    response: ConsoleSession,
    errors: ['unauthenticated', 'forbidden', 'rate_limited'],
  }),
  startOidc: route('get', '/console/auth/oidc/start', {
    summary: 'Sign in at the provider of `console.auth` (OpenID Connect)',
    description: 'Redirects the browser to the provider.',
    access: 'public',
    query: z.object({
      return_to: nullish(z.string().min(1).max(1_500)).describe(
        'The path of the page of the console that is shown afterwards',
      ),
    }),
    kind: 'redirect',
    response: z.string(),
    errors: ['not_found'],
  }),
  finishOidc: route('get', '/console/auth/oidc/callback', {
    summary: 'The address to which the provider redirects a browser: sets the cookie of a session',
    description:
      'Redirects the browser to the page at which the user began, or to the form with `sign_in_error`.',
    access: 'public',
    // Providers add parameters of their own.
    query: z.looseObject({
      state: z.string().min(1).max(512).describe('As in the request to the provider'),
      code: nullish(z.string().min(1).max(8_192)).describe('What is exchanged for the tokens of the user'),
      error: nullish(z.string().max(512)).describe('The code of an error of the provider'),
    }),
    kind: 'redirect',
    response: z.string(),
    errors: ['not_found'],
  }),
  endConsoleSession: route('delete', path, {
    summary: 'Sign out: end the session of this browser',
    description: cookieRule,
    access: 'public',
    requestHeaders: csrfHeader,
    response: Empty,
    status: 204,
    errors: ['forbidden'],
  }),
  listConsoleSessions: route('get', '/console/auth/sessions', {
    summary: 'The sessions of the user or key that this session belongs to, those that were used last first',
    description: cookieRule,
    access: 'public',
    requestHeaders: csrfHeader,
    response: z.array(ListedSession),
    errors: ['unauthenticated'],
  }),
  endOneConsoleSession: route('delete', '/console/auth/sessions/:session_id', {
    summary: 'End one session of the user or key that this session belongs to',
    description: cookieRule,
    access: 'public',
    params: z.object({
      session_id: z.string().regex(/^[0-9a-f]{64}$/, { error: 'must be the id of a session' }),
    }),
    requestHeaders: csrfHeader,
    response: Empty,
    status: 204,
    errors: ['unauthenticated', 'forbidden', 'not_found'],
  }),
  endAllConsoleSessions: route('delete', '/console/auth/sessions', {
    summary: 'Sign out everywhere: end all sessions of the user or key that this session belongs to',
    description: cookieRule,
    access: 'public',
    requestHeaders: csrfHeader,
    response: Empty,
    status: 204,
    errors: ['unauthenticated', 'forbidden'],
  }),
};
