// A cron that is made due by hand; each time, one of the nodes must create one run.
import { expect } from 'vitest';
import type { Stage } from '../faults/scenario.ts';

export class CronTicks {
  readonly #stage: Stage;
  readonly #cron_id: string;
  #ticks = 0;

  private constructor(stage: Stage, cron_id: string) {
    this.#stage = stage;
    this.#cron_id = cron_id;
  }

  static async create(stage: Stage): Promise<CronTicks> {
    const { status, body } = await stage.caller.call({
      method: 'POST',
      path: '/runs/crons',
      body: {
        assistant_id: 'journal',
        schedule: '0 0 1 1 *',
        on_run_completed: 'keep',
        input: { marker: 'cron', steps: 1, ms: 0, taken: 0 },
      },
    });
    expect(status).toBe(200);
    return new CronTicks(stage, (body as { cron_id: string }).cron_id);
  }

  /** Makes the cron due, waits until it was fired, and expects one run for each time. */
  async tick(): Promise<void> {
    const { cluster } = this.#stage;
    const id = [this.#cron_id];
    await cluster.query(`update crons set next_run_date = now() - interval '1 ms' where cron_id = $1`, id);
    this.#ticks += 1;
    await expect
      .poll(() => cluster.query('select 1 from crons where cron_id = $1 and next_run_date <= now()', id), {
        timeout: 30_000,
      })
      .toEqual([]);
    const runs = await cluster.query(`select run_id from runs where metadata->>'cron_id' = $1`, id);
    expect(runs).toHaveLength(this.#ticks);
  }
}
