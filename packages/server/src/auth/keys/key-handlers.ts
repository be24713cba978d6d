import type { keyRoutes } from '@svc/contract';
import { Problem } from '@svc/contract/problem';
import type { Handlers } from '../../api/handlers.ts';
import { grantOf } from './grant-of.ts';
import type { KeyService } from './key-service.ts';

export const keyHandlers = (keys: KeyService): Handlers<typeof keyRoutes> => ({
  listKeys: (_, call) => keys.list(grantOf(call.caller)),

  createKey: ({ body }, call) => {
    const { tenant_id, workspaces: reached } = grantOf(call.caller);
    const workspaces = [...new Set(body.workspaces ?? [tenant_id])];
    if (!workspaces.every((id) => reached.includes(id))) {
      throw new Problem(
        'forbidden',
        'A new key can only have access to workspaces that your key has access to.',
      );
    }
    return keys.create({ ...body, workspaces, expires_at: body.expires_at ?? null });
  },

  revokeKey: ({ params }, call) => keys.revoke(params.key_id, grantOf(call.caller)),
});
