// Users by a header, or by the cookie of another login of the same host.
import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';

export const auth = new Auth()
  .authenticate(({ headers }) => {
    const cookies = headers.get('cookie') ?? '';
    if (cookies.includes('svc-console'))
      throw new HTTPException(400, { message: 'authenticate got the session' });
    const [, fromCookie] = /\blogin=(\w+)/.exec(cookies) ?? [];
    const name = fromCookie ?? headers.get('x-user-token');
    if (name === null) throw new HTTPException(401, { message: 'Who are you?' });
    return { identity: name, permissions: [] };
  })
  .on('*', () => ({}));
