// Members of a team share its assistants, threads, crons and store items. Persons have all permissions; services may read and create runs.
import { Auth, HTTPException } from '@svc/sdk/auth';
import { teamKeys, type TeamKey } from './team-keys.ts';

const keys = teamKeys(process.env['TEAM_KEYS_FILE'] ?? new URL('team-keys.json', import.meta.url));

const permissionsOf: Record<TeamKey['kind'], string[]> = {
  person: ['read', 'run', 'write'],
  service: ['read', 'run'],
};

/** The permission that each action requires; all other actions require `write`. */
const requiredPermissions: Record<string, string> = {
  read: 'read',
  search: 'read',
  get: 'read',
  list_namespaces: 'read',
  create_run: 'run',
};

export const auth = new Auth()
  .authenticate((request) => {
    const key = request.headers.get('x-team-key');
    const found = key === null ? undefined : keys.find(key);
    if (!found) throw new HTTPException(401, { message: 'Send the key of your team as x-team-key' });
    const { team, name, kind } = found;
    return { identity: `${team}/${name}`, team, kind, permissions: permissionsOf[kind] };
  })

  .on('*', ({ resource, action, value, user, permissions }) => {
    // Services must be able to create threads for their runs.
    const createsThread = resource === 'threads' && action === 'create';
    const required = createsThread ? 'run' : (requiredPermissions[action] ?? 'write');
    if (!permissions.includes(required)) return false;
    if (resource === 'store') return inTeam(value as { namespace?: string[] | undefined }, user.team);
    return ofTeam(value as { metadata?: Record<string, unknown> | undefined }, user.team);
  });

/** Writes the team to the metadata of new and updated resources, and returns a filter on it. Actions without metadata ignore the value. */
const ofTeam = (value: { metadata?: Record<string, unknown> | undefined }, team: string) => {
  value.metadata = { ...value.metadata, team };
  return { team };
};

/** Puts items of the store below a namespace of the team, and returns a filter on it. */
const inTeam = (value: { namespace?: string[] | undefined }, team: string) => {
  const { namespace = [] } = value;
  value.namespace = namespace[0] === team ? namespace : [team, ...namespace];
  return { namespace: { $contains: team } };
};
