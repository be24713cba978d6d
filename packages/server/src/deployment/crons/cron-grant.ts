// Authorization of crons. The runs of a cron are authorized together with the cron, since no caller is present when they are created.
import { randomUUID } from 'node:crypto';
import { CronCreate, type CronPatch } from '@svc/contract';
import { Problem } from '@svc/contract/problem';
import { type Authorizer, checked, ownerKey } from '../../auth/authorization/authorizer.ts';
import type { AccessFilter } from '../../auth/authorization/access-filter.ts';
import type { RunGranter } from '../runs/run-grant.ts';
import { payloadOf, runOf, type CronGrant, type CronService } from './cron-service.ts';

export class CronGranter {
  readonly #crons: CronService;
  readonly #runs: RunGranter;

  constructor(crons: CronService, runs: RunGranter) {
    this.#crons = crons;
    this.#runs = runs;
  }

  /** Also returns the body with the changes of the handlers. Throws the error of a handler that refuses. */
  async grant(
    thread_id: string | null,
    requested: CronCreate,
    authorizer: Authorizer,
  ): Promise<{ body: CronCreate; grant: CronGrant }> {
    const { user } = authorizer;
    const { assistant_id, schedule, end_time, metadata } = requested;
    const { value } = await authorizer.authorize('crons:create', {
      cron_id: randomUUID(),
      thread_id: thread_id ?? undefined,
      assistant_id,
      schedule,
      end_time,
      user_id: user?.identity,
      metadata,
      payload: payloadOf(requested),
    });
    const { cron_id = randomUUID(), user_id: _, thread_id: _thread, payload, ...changed } = value;
    const cron =
      user === undefined
        ? requested
        : checked('crons:create', CronCreate, { ...requested, ...payload, ...changed });
    const run = { ...runOf(cron.assistant_id, payloadOf(cron)), metadata: cron.metadata };
    const { body, grant } = await this.#runs.grant(authorizer, thread_id, run);
    const owned = { ...cron, ...payloadOf(body), metadata: body.metadata };
    if (thread_id === null) assertInside(grant.access, { ...owned.metadata, cron_id });
    return {
      body: owned,
      grant: { cron_id, assistant: grant.assistantAccess, thread: grant.access, user },
    };
  }

  /**
   * A change of the runs' options is authorized as the creation of such a run. Returns the change with the changes of the handlers. The
   * owner of the cron stays the same.
   */
  async regrant(
    cron_id: string,
    patch: CronPatch,
    authorizer: Authorizer,
    filter: AccessFilter,
  ): Promise<CronPatch> {
    const changed = payloadOf(patch);
    const changesRuns = Object.keys(changed).length > 0;
    if (!changesRuns && Object.keys(patch.metadata ?? {}).length === 0) return patch;
    const { assistant_id, thread_id, ...cron } = await this.#crons.get(cron_id, filter);
    if (changesRuns && cron.user_id !== null && cron.user_id !== authorizer.user?.identity) throw notOwner();
    const { [ownerKey]: owner, ...metadata } = { ...cron.metadata, ...patch.metadata };
    const run = { ...runOf(assistant_id, { ...cron.payload, ...changed }), metadata };
    const { body, grant } = await this.#runs.grant(authorizer, thread_id, run);
    const may = { assistant: grant.assistantAccess, thread: grant.access };
    await this.#crons.assertUsable({ assistant_id, thread_id }, may);
    if (thread_id === null) assertInside(grant.access, { ...metadata, [ownerKey]: owner, cron_id });
    return { ...patch, ...payloadOf(body) };
  }
}

/** The runs of a cron execute as the user who created it, with that user's permissions. */
const notOwner = (): Problem =>
  new Problem(
    'forbidden',
    'Only the user who created a cron may change what its runs do, because they execute as that user.',
  );

const assertInside = (filter: AccessFilter, metadata: Record<string, unknown>): void => {
  if (filter.matches(metadata)) return;
  throw new Problem(
    'forbidden',
    'The auth handler for threads:create_run returned a filter that the runs of this cron would not pass. The handler must set the metadata that it filters by.',
  );
};
