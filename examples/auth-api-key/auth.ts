// Teams share what they make. People may do everything there, services only what their permissions say.
import { Auth, HTTPException } from '@svc/sdk/auth';
import { teamKeys, type TeamKey } from './team-keys.ts';

const keys = teamKeys(process.env['TEAM_KEYS_FILE'] ?? new URL('team-keys.json', import.meta.url));

const permissionsOf: Record<TeamKey['kind'], string[]> = {
  person: ['read', 'run', 'write'],
  service: ['read', 'run'],
};

/** What an action needs; anything else is a change. */
const needed: Record<string, string> = {
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
    // A service needs a thread for its runs.
    const isThreadOfRun = resource === 'threads' && action === 'create';
    if (!permissions.includes(isThreadOfRun ? 'run' : (needed[action] ?? 'write'))) return false;
    if (resource === 'store') return inTeam(value as { namespace?: string[] | undefined }, user.team);
    return ofTeam(value as { metadata?: Record<string, unknown> | undefined }, user.team);
  });

/** What is created says whose it is, and no update says otherwise; payloads without metadata do not mind. */
const ofTeam = (value: { metadata?: Record<string, unknown> | undefined }, team: string) => {
  value.metadata = { ...value.metadata, team };
  return { team };
};

const inTeam = (value: { namespace?: string[] | undefined }, team: string) => {
  const { namespace = [] } = value;
  value.namespace = namespace[0] === team ? namespace : [team, ...namespace];
  return { namespace: { $contains: team } };
};
