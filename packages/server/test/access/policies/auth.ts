// Several projects in one: `Authorization: Bearer <policy>.<name>` says whose handlers are asked. All of them write the
// owner; they differ in what they let through.
import { Auth, HTTPException, type AuthFilter } from '@svc/sdk/auth';

interface Asked {
  event: string;
  value: { metadata?: Record<string, unknown>; kwargs?: { input?: { ask?: string } } };
  name: string;
}

const owned = ({ name }: Asked) => ({ owner: name });

const policies: Record<string, (asked: Asked) => AuthFilter | boolean> = {
  stock: owned,
  /** Whoever is known may create; it goes without a filter. */
  'free-create': (asked) => (asked.event.endsWith(':create') ? true : owned(asked)),
  /** Everybody may read everything. */
  'open-reading': (asked) => (/:(read|search)$/.test(asked.event) ? true : owned(asked)),
  /** A state is written by who is named for it. */
  'no-writing': (asked) => (asked.event === 'threads:update' ? { writer: asked.name } : owned(asked)),
  /** Crons are nobody's business, runs are. */
  'free-crons': (asked) => {
    if (asked.event.startsWith('crons:')) return true;
    if (asked.event === 'threads:create_run' && asked.value.kwargs?.input?.ask === 'forbidden') return false;
    return owned(asked);
  },
};

export const auth = new Auth()
  .authenticate((request) => {
    const [, policy, name] =
      /^Bearer ([\w-]+)\.(\w+)$/.exec(request.headers.get('authorization') ?? '') ?? [];
    if (!policy || !name) throw new HTTPException(401, { message: 'Who are you?' });
    return { identity: name, policy, token: `secret-of-${name}` };
  })
  .on('*', ({ event, value, user }) => {
    const asked = { event, value: value as Asked['value'], name: user.identity };
    const writes = /:(create|update|create_run)$/.test(event);
    // A cron's metadata are its runs', and here a user's own choice.
    const isOwnChoice = user['policy'] === 'free-crons' && event === 'crons:update';
    if (writes && !isOwnChoice && (asked.value.metadata || !event.endsWith(':update')))
      asked.value.metadata = { ...asked.value.metadata, owner: asked.name };
    return policies[user['policy'] as string]?.(asked) ?? false;
  })
  .on('store', ({ user }) => ({ namespace: { $contains: user.identity } }));
