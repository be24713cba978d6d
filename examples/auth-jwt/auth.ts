// Who may do what. Threads and crons are their maker's, assistants their organisation's, and items of the store lie
// below their user's name.
import { Auth, HTTPException } from '@svc/sdk/auth';
import { TokenError, verifyToken } from './access-token.ts';
import { demoSecretFile } from './secret-store.ts';

const secrets = demoSecretFile(process.env['SECRETS_FILE'] ?? new URL('demo/secrets.json', import.meta.url));

const refuse = (message: string, cause?: unknown): HTTPException =>
  new HTTPException(401, { message, headers: { 'www-authenticate': 'Bearer' }, cause });

const verified = async (token: string) => {
  try {
    return await verifyToken(token);
  } catch (cause) {
    if (cause instanceof TokenError) throw refuse(cause.message, cause);
    throw new HTTPException(503, { message: 'The identity provider does not answer', cause });
  }
};

export const auth = new Auth()
  .authenticate(async (request) => {
    const [, token] = /^Bearer (\S+)$/i.exec(request.headers.get('authorization') ?? '') ?? [];
    if (!token) throw refuse('Log in, and send the access token as "Authorization: Bearer …"');
    const { sub, org, permissions } = await verified(token);
    // The graph calls the calendar as this user. It gets the token of the user, not that of the request.
    const calendar_token = await secrets.get(`calendar/${sub}`);
    return { identity: sub, org, permissions, calendar_token };
  })

  // Updates too: nobody may give a thread away, or slip one to somebody else.
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
    // What a client has read it may send back.
    value.namespace = namespace[0] === user.identity ? namespace : [user.identity, ...namespace];
    return { namespace: { $contains: user.identity } };
  });
