// Users with bearer tokens; each sees only the threads that they created. Clients that can only send an API key send their token as one.
// Requests of elements of a page, such as <script>, can only have a cookie.
import { Auth, HTTPException } from '@svc/sdk/auth';

const users = new Map([
  ['token-of-ann', 'ann'],
  ['token-of-ben', 'ben'],
]);

export const auth = new Auth()
  .authenticate(({ headers }) => {
    const bearer = /^Bearer (.+)$/.exec(headers.get('authorization') ?? '')?.[1];
    const cookie = /(?:^|; )token=([^;]+)/.exec(headers.get('cookie') ?? '')?.[1];
    const identity = users.get(bearer ?? headers.get('x-api-key') ?? cookie ?? '');
    if (identity === undefined) throw new HTTPException(401, { message: 'Log in first' });
    return identity;
  })
  .on(['threads:create', 'threads:create_run'], ({ value, user }) => {
    value.metadata = { ...value.metadata, owner: user.identity };
    return { owner: user.identity };
  })
  .on(['assistants:read', 'assistants:search'], () => true)
  .on('threads', ({ user }) => ({ owner: user.identity }));
