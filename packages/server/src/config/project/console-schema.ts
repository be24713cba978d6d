// The section `console` of svc.json.
import * as z from 'zod';

/** They frame a request, or are set by the server. */
const noCredential =
  /^(?:cookie|host|connection|origin|content-.*|transfer-encoding|sec-.*|x-tenant-id|x-svc-csrf)$/i;

const isIssuer = (text: string): boolean => {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, search, hash, username } = new URL(text);
  const isHere = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
  return (
    (protocol === 'https:' || (protocol === 'http:' && isHere)) &&
    search === '' &&
    hash === '' &&
    username === ''
  );
};

/** Set by the server in each request to the provider. */
const ownParameters = new Set([
  'client_id',
  'code_challenge',
  'code_challenge_method',
  'nonce',
  'redirect_uri',
  'response_mode',
  'response_type',
  'scope',
  'state',
]);

const OidcAuth = z.strictObject({
  kind: z.literal('oidc'),
  issuer: z
    .string()
    .max(2_048)
    .refine(isIssuer, {
      error:
        'must be the https:// address of the provider, without a query; http:// is for this machine only',
    })
    .describe('The address of the provider, below which it has /.well-known/openid-configuration'),
  client_id: z.string().min(1).max(512).describe('The id of the console at the provider'),
  scopes: z
    .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/, { error: 'must be the name of a scope' }))
    .max(50)
    .refine((scopes) => scopes.includes('openid'), { error: 'must contain openid' })
    .default(['openid', 'profile', 'email'])
    .describe('What the console asks for'),
  token: z
    .enum(['id_token', 'access_token'])
    .default('id_token')
    .describe('The token that `authenticate` gets as `Authorization: Bearer …`'),
  parameters: z
    .record(z.string().min(1).max(128), z.string().max(2_048))
    .refine((given) => Object.keys(given).every((name) => !ownParameters.has(name)), {
      error: `must not contain ${[...ownParameters].join(', ')}: the server sets them`,
    })
    .optional()
    .describe('More parameters of the request to the provider, such as `audience`'),
});
export type OidcAuth = z.infer<typeof OidcAuth>;

export const ConsoleSection = z.strictObject({
  auth: z
    .discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('bearer') }),
      z.strictObject({
        kind: z.literal('header'),
        name: z
          .string()
          .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/, { error: 'must be the name of a header' })
          .refine((name) => !noCredential.test(name), { error: 'is a header that cannot hold a credential' }),
      }),
      OidcAuth,
    ])
    .optional()
    .describe(
      'How users of custom authentication sign in to the console: {"kind": "bearer"}, {"kind": "header", "name": "x-user-token"}, or {"kind": "oidc", "issuer": "https://…", "client_id": "…"}',
    ),
});

export type ConsoleSection = z.infer<typeof ConsoleSection>;
