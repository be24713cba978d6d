// Access tokens, as JWTs of one identity provider.
import { createRemoteJWKSet, errors, jwtVerify } from 'jose';

const issuer = process.env['ISSUER'] ?? 'http://localhost:3000';
const audience = process.env['AUDIENCE'] ?? 'svc-example';
/** Fetched when the first token comes, and again when one names a key that is not among them. */
const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', issuer));

export interface Claims {
  sub: string;
  org: string;
  permissions: string[];
}

/** The token is at fault, and not who should have vouched for it. */
export class TokenError extends Error {}

/** Throws a TokenError for a token that proves nothing, and any other error when the provider cannot be asked. */
export const verifyToken = async (token: string): Promise<Claims> => {
  try {
    const { payload } = await jwtVerify<{ org: string; permissions?: string[] }>(token, keys, {
      // One algorithm: a token must not choose how it is verified.
      algorithms: ['ES256'],
      issuer,
      audience,
      requiredClaims: ['sub', 'org', 'exp'],
    });
    const { sub = '', org, permissions = [] } = payload;
    return { sub, org, permissions };
  } catch (error) {
    if (isProviderDown(error)) throw error;
    throw new TokenError('The access token is invalid or has expired', { cause: error });
  }
};

const isProviderDown = (error: unknown): boolean =>
  !(error instanceof errors.JOSEError) ||
  error instanceof errors.JWKSTimeout ||
  // What jose throws when the keys are answered with anything but 200.
  error.code === 'ERR_JOSE_GENERIC';
