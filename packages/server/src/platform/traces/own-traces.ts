// Traces of this server's own runs: the way that ingest takes, without HTTP and without a key.
import { Problem } from '@svc/contract/problem';
import type { Database } from '../../storage/database.ts';
import { modelPriceStorage } from '../../storage/model-prices.ts';
import { projectStorage } from '../../storage/projects.ts';
import { traceStorage } from '../../storage/traces.ts';
import { workspaceStorage } from '../../storage/workspaces.ts';
import { PriceService } from '../prices/price-service.ts';
import { ProjectService } from '../projects/project-service.ts';
import { defaultWorkspace } from '../workspaces/default-workspace.ts';
import { Admission } from './admission.ts';
import { RunStore } from './ingest-service.ts';
import { toRunBatch } from './ingest-task.ts';
import { Rejections } from './rejections.ts';
import type { SentRun } from './sent-run.ts';

/** Stores runs in the workspace that the first start made; what of them cannot be stored is told to `warn`. */
export const ownTraces = (
  db: Database,
  daysKept: number,
  warn: (text: string) => void,
): ((runs: SentRun[]) => Promise<void>) => {
  // One batch at a time, of a size that its maker bounds.
  const admission = new Admission({ bytesMax: Infinity, writersMax: 1, waitingMax: 1 });
  const projects = new ProjectService(projectStorage(db));
  const prices = new PriceService(modelPriceStorage(db));
  const store = new RunStore({ traces: traceStorage(db), projects, prices, admission, daysKept });
  const workspaces = workspaceStorage(db);
  let tenant_id: string | undefined;
  return async (runs) => {
    tenant_id ??= (await workspaces.oldestNamed(defaultWorkspace))?.id;
    if (tenant_id === undefined)
      throw new Problem('unavailable', `There is no workspace ${defaultWorkspace} yet`);
    const batch = toRunBatch({ runs, attachments: [], rejections: new Rejections() });
    await store.store(tenant_id, batch);
    for (const { id, message } of batch.rejections.named)
      warn(`run ${id} is missing from traces: ${message}`);
  };
};
