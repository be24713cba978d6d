// Auth handlers that do nothing expensive, so that only the cost of calling them is measured.
import { Auth } from '@svc/sdk/auth';

export const auth = new Auth()
  .authenticate((request) => ({ identity: request.headers.get('authorization') ?? 'nobody' }))
  .on('*', ({ value, user }) => {
    const payload = value as { metadata?: Record<string, unknown> };
    payload.metadata = { ...payload.metadata, owner: user.identity };
    return { owner: user.identity };
  });
