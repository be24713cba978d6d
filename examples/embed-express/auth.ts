// What each user may do. Who the user is, program.ts says.
import { Auth } from '@svc/sdk/auth';

export const auth = new Auth()
  .on('*', ({ resource, value, user }) => {
    if (resource === 'store') return false;
    const created = value as { metadata?: Record<string, unknown> };
    created.metadata = { ...created.metadata, owner: user.identity };
    return { owner: user.identity };
  })
  .on('assistants', ({ action }) => action === 'read' || action === 'search');
