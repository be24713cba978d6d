// The processes of a node, by its settings.
import type { Settings } from '../config/settings/settings.ts';
import type { NodeProcesses } from '../storage/postgres/connection-plan.ts';

/** A node with the role `api` also has an executor, which introspects graphs and applies state updates. */
export const nodeProcesses = ({ role, storage, runs, exports }: Settings): NodeProcesses => ({
  poolMax: storage.poolMax,
  executors: role === 'api' ? 1 : runs.executors,
  exporters: role === 'api' ? 0 : exports.slots,
});
