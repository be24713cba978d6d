// Several projects in one: `Authorization: Bearer <policy>.<name>` selects the handlers. All of them set the owner; they differ in what
// they allow.
import { Auth, HTTPException, type AuthFilter } from '@svc/sdk/auth';

interface Check {
  event: string;
  value: { metadata?: Record<string, unknown>; kwargs?: { input?: { action?: string } } };
  name: string;
}

const owned = ({ name }: Check) => ({ owner: name });

const policies: Record<string, (check: Check) => AuthFilter | boolean> = {
  stock: owned,
  /** Any user may create; no filter is applied. */
  'free-create': (check) => (check.event.endsWith(':create') ? true : owned(check)),
  /** Everyone may read everything. */
  'open-reading': (check) => (/:(read|search)$/.test(check.event) ? true : owned(check)),
  /** The metadata names the user who may write the state. */
  'no-writing': (check) => (check.event === 'threads:update' ? { writer: check.name } : owned(check)),
  /** Crons are not restricted, runs are. */
  'free-crons': (check) => {
    if (check.event.startsWith('crons:')) return true;
    if (check.event === 'threads:create_run' && check.value.kwargs?.input?.action === 'forbidden')
      return false;
    return owned(check);
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
    const check = { event, value: value as Check['value'], name: user.identity };
    const writes = /:(create|update|create_run)$/.test(event);
    // A cron's metadata are those of its runs; with this policy the user chooses them.
    const isOwnChoice = user['policy'] === 'free-crons' && event === 'crons:update';
    if (writes && !isOwnChoice && (check.value.metadata || !event.endsWith(':update')))
      check.value.metadata = { ...check.value.metadata, owner: check.name };
    return policies[user['policy'] as string]?.(check) ?? false;
  })
  .on('store', ({ user }) => ({ namespace: { $contains: user.identity } }));
