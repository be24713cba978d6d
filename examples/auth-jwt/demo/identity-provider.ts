// A placeholder for an identity provider: two users who log in with a password. Tokens are signed with a key that is generated at the
// start.
import { Hono } from 'hono';
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose';

const users: Record<string, { password: string; org: string; permissions: string[] }> = {
  alice: { password: 'wonderland', org: 'acme', permissions: ['assistants:write'] },
  bob: { password: 'builder', org: 'acme', permissions: [] },
};

const algorithm = 'ES256';
const lifetimeSeconds = 900;

export interface IdentityProvider {
  app: Hono;
  /** Returns a token with the standard claims and these. */
  sign(claims: Record<string, unknown>): Promise<string>;
  /** The key that verifies the tokens. */
  publicKey: CryptoKey;
}

export const createIdentityProvider = async (
  issuer: string,
  audience = 'svc-example',
): Promise<IdentityProvider> => {
  const { privateKey, publicKey } = await generateKeyPair(algorithm);
  const kid = crypto.randomUUID();
  const key = { ...(await exportJWK(publicKey)), kid, alg: algorithm, use: 'sig' };

  const sign = (claims: Record<string, unknown>): Promise<string> => {
    const iat = Math.floor(Date.now() / 1000);
    return new SignJWT({ iss: issuer, aud: audience, iat, exp: iat + lifetimeSeconds, ...claims })
      .setProtectedHeader({ alg: algorithm, kid })
      .sign(privateKey);
  };

  const app = new Hono()
    .get('/.well-known/jwks.json', (context) => context.json({ keys: [key] }))
    .post('/login', async (context) => {
      const { name, password } = await context.req.json<{ name: string; password: string }>();
      const user = Object.hasOwn(users, name) ? users[name] : undefined;
      if (!user || user.password !== password)
        return context.json({ message: 'The name or the password is wrong' }, 401);
      const { org, permissions } = user;
      const access_token = await sign({ sub: name, org, permissions });
      return context.json({ access_token, token_type: 'Bearer', expires_in: lifetimeSeconds });
    });
  return { app, sign, publicKey };
};
