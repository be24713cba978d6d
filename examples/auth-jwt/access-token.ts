// Verifies access tokens: JWTs of one identity provider.
import { createRemoteJWKSet, errors, jwtVerify } from 'jose';

const issuer = process.env['ISSUER'] ?? 'http://localhost:3000';
const audience = process.env['AUDIENCE'] ?? 'svc-example';
/** Public keys of the identity provider, fetched for the first token and again for a token with an unknown key id. */
const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', issuer));

export interface Claims {
  sub: string;
  org: string;
  permissions: string[];
}

/** The token is invalid; the identity provider works. */
export class TokenError extends Error {}

/** Throws a TokenError for an invalid token, and other errors when the identity provider cannot be reached. */
export const verifyToken = async (token: string): Promise<Claims> => {
  try {
    const { payload } = await jwtVerify<{ org: string; permissions?: string[] }>(token, keys, {
      // Only one algorithm, so a token cannot choose a weaker one.
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
  // jose throws this when the response with the keys has another status than 200.
  error.code === 'ERR_JOSE_GENERIC';
