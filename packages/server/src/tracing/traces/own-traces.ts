// Stores the traces of runs that this server executes, like traces from clients, but without HTTP and API keys.
import type { Database } from '../../storage/postgres/database.ts';
import { modelPriceStorage } from '../../storage/tracing/model-prices.ts';
import { ownTraceStorage } from '../../storage/tracing/own-traces.ts';
import { projectStorage } from '../../storage/tracing/projects.ts';
import { traceStorage } from '../../storage/tracing/traces.ts';
import { workspaceStorage } from '../../storage/tracing/workspaces.ts';
import { PriceService } from '../prices/price-service.ts';
import { ProjectService } from '../projects/project-service.ts';
import { defaultWorkspaceId } from '../../auth/workspaces/default-workspace.ts';
import { Admission } from '../ingest/admission.ts';
import { RunStore } from '../ingest/run-store.ts';
import { toRunBatch } from '../ingest/ingest-task.ts';
import { emptyBatch } from '../ingest/read-parts.ts';
import type { SentRun } from '../ingest/sent-run.ts';

/** A trace run that belongs to a run of this server. */
export interface OwnTraceRun extends SentRun {
  /** Id of the run that this server executes. */
  run_id: string;
  isPending: boolean;
  /** True when the trace run was stored as pending before. */
  wasPending: boolean;
}

/** Stores trace runs in the default workspace, which the first start creates. Calls `warn` for each run that cannot be stored. */
export const ownTraces = (
  db: Database,
  daysKept: number,
  warn: (text: string) => void,
): ((runs: OwnTraceRun[]) => Promise<void>) => {
  // The caller sends one batch at a time, and bounds its size.
  const admission = new Admission({ bytesMax: Infinity, writersMax: 1, waitingMax: 1 });
  const projects = new ProjectService(projectStorage(db));
  const prices = new PriceService(modelPriceStorage(db));
  const store = new RunStore({
    traces: traceStorage(db),
    projects,
    prices,
    admission,
    daysKept,
    onRefused: ({ error }) => warn(`trace runs refused by the database: ${String(error)}`),
  });
  const workspaces = workspaceStorage(db);
  const own = ownTraceStorage(db);
  let tenant_id: string | undefined;
  return async (runs) => {
    tenant_id ??= await defaultWorkspaceId(workspaces);
    // Recorded before the trace runs are stored, so that a periodic task finds every pending one after its executor is lost.
    const pending = runs.filter(({ isPending }) => isPending);
    if (pending.length > 0) await own.addPending(tenant_id, pending);
    const batch = toRunBatch({ ...emptyBatch(), runs });
    await store.store(tenant_id, batch);
    for (const { id, message } of batch.rejections.named) warn(`trace run ${id} not stored: ${message}`);
    const ended = runs.filter(({ isPending, wasPending }) => !isPending && wasPending);
    if (ended.length > 0) await own.removePending(tenant_id, ended);
  };
};
