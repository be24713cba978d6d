// Authorization rules. Threads and crons belong to the user who created them, assistants to the user's organization. Items of the store
// are in a namespace that begins with the user's name.
import { Auth, HTTPException } from '@svc/sdk/auth';
import { TokenError, verifyToken } from './access-token.ts';
import { demoSecretFile } from './secret-store.ts';

const secrets = demoSecretFile(process.env['SECRETS_FILE'] ?? new URL('demo/secrets.json', import.meta.url));

const unauthorized = (message: string, cause?: unknown): HTTPException =>
  new HTTPException(401, { message, headers: { 'www-authenticate': 'Bearer' }, cause });

const verified = async (token: string) => {
  try {
    return await verifyToken(token);
  } catch (cause) {
    if (cause instanceof TokenError) throw unauthorized(cause.message, cause);
    throw new HTTPException(503, { message: 'The identity provider does not answer', cause });
  }
};

export const auth = new Auth()
  .authenticate(async (request) => {
    const [, token] = /^Bearer (\S+)$/i.exec(request.headers.get('authorization') ?? '') ?? [];
    if (!token) throw unauthorized('Log in, and send the access token as "Authorization: Bearer …"');
    const { sub, org, permissions } = await verified(token);
    // The graph calls the calendar as this user, with the calendar's own token instead of the access token of the request.
    const calendar_token = await secrets.get(`calendar/${sub}`);
    return { identity: sub, org, permissions, calendar_token };
  })

  // Updates also set the owner, so no user can transfer a thread to another user.
  .on(
    ['threads:create', 'threads:update', 'threads:create_run', 'crons:create', 'crons:update'],
    ({ value, user }) => {
      value.metadata = { ...value.metadata, owner: user.identity };
      return { owner: user.identity };
    },
  )
  .on(['threads', 'crons'], ({ user }) => ({ owner: user.identity }))

  .on(['assistants:create', 'assistants:update'], ({ value, user, permissions }) => {
    if (!permissions.includes('assistants:write')) return false;
    value.metadata = { ...value.metadata, org: user.org };
    return { org: user.org };
  })
  .on('assistants:delete', ({ user, permissions }) =>
    permissions.includes('assistants:write') ? { org: user.org } : false,
  )
  .on('assistants', ({ user }) => ({ org: user.org }))

  .on('store', ({ value, user }) => {
    const namespace = value.namespace ?? [];
    // A client may send a namespace that it has read, which already begins with its name.
    value.namespace = namespace[0] === user.identity ? namespace : [user.identity, ...namespace];
    return { namespace: { $contains: user.identity } };
  });
