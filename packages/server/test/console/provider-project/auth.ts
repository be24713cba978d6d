// Users of the provider at TEST_ISSUER, by the ID tokens that it signs. Users whose name begins with "guest" are refused.
import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';
import { createRemoteJWKSet, jwtVerify } from 'jose';

const issuer = process.env['TEST_ISSUER'] ?? '';
const keys = createRemoteJWKSet(new URL('/jwks', issuer));

export const auth = new Auth()
  .authenticate(async (request) => {
    const [, token = ''] = /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '') ?? [];
    const verified = await jwtVerify(token, keys, { issuer, audience: 'svc-console' }).catch(() => undefined);
    const identity = verified?.payload.sub;
    if (identity === undefined || identity.startsWith('guest'))
      throw new HTTPException(401, { message: 'This user is not known here' });
    return { identity, permissions: [] };
  })
  .on('*', ({ event, value, user }) => {
    const payload = value as { metadata?: Record<string, unknown> };
    if (event === 'threads:create') payload.metadata = { ...payload.metadata, owner: user.identity };
    return { owner: user.identity };
  });
