// Asking whether a cron may be made or changed: by who may do that, and its runs, since these are made when nobody is
// there to be asked.
import { randomUUID } from 'node:crypto';
import { CronCreate, type CronPatch } from '@svc/contract';
import { Problem } from '@svc/contract/problem';
import { ownerKey, type Authorizer } from '../../auth/authorization/authorizer.ts';
import { checked } from '../../auth/handlers/changed-request.ts';
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

  /** Returns the body too, as the handlers left it. Throws what they say. */
  async grant(
    thread_id: string | null,
    asked: CronCreate,
    authorizer: Authorizer,
  ): Promise<{ body: CronCreate; grant: CronGrant }> {
    const { user } = authorizer;
    const { assistant_id, schedule, end_time, metadata } = asked;
    const { value } = await authorizer.authorize('crons:create', {
      cron_id: randomUUID(),
      thread_id: thread_id ?? undefined,
      assistant_id,
      schedule,
      end_time,
      user_id: user?.identity,
      metadata,
      payload: payloadOf(asked),
    });
    const { cron_id = randomUUID(), user_id: _, thread_id: _thread, payload, ...changed } = value;
    const cron =
      user === undefined ? asked : checked('crons:create', CronCreate, { ...asked, ...payload, ...changed });
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
   * What a change makes of the runs is asked about as such runs are. Returns the change, as the handlers left it. Whose the
   * cron is stays as it was.
   */
  async regrant(
    cron_id: string,
    patch: CronPatch,
    authorizer: Authorizer,
    filter: AccessFilter,
  ): Promise<CronPatch> {
    const changed = payloadOf(patch);
    const isAboutRuns = Object.keys(changed).length > 0;
    if (!isAboutRuns && Object.keys(patch.metadata ?? {}).length === 0) return patch;
    const { assistant_id, thread_id, ...cron } = await this.#crons.get(cron_id, filter);
    if (isAboutRuns && cron.user_id !== null && cron.user_id !== authorizer.user?.identity) throw notTheirs();
    const { [ownerKey]: owner, ...metadata } = { ...cron.metadata, ...patch.metadata };
    const run = { ...runOf(assistant_id, { ...cron.payload, ...changed }), metadata };
    const { body, grant } = await this.#runs.grant(authorizer, thread_id, run);
    const may = { assistant: grant.assistantAccess, thread: grant.access };
    await this.#crons.assertUsable({ assistant_id, thread_id }, may);
    if (thread_id === null) assertInside(grant.access, { ...metadata, [ownerKey]: owner, cron_id });
    return { ...patch, ...payloadOf(body) };
  }
}

/** The runs of a cron act for who made it, with whatever that user may reach. */
const notTheirs = (): Problem =>
  new Problem('forbidden', 'Only who made a cron may change what its runs do: they act for that user.');

const assertInside = (filter: AccessFilter, metadata: Record<string, unknown>): void => {
  if (filter.matches(metadata)) return;
  throw new Problem(
    'forbidden',
    'The auth handler for threads:create_run returned a filter that the runs of this cron would not pass: it must set the metadata that it filters by.',
  );
};
