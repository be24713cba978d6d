// The queue of pending runs: promotion of delayed runs, the repair of the queues of graphs, and sizes. Claims are in run-leases.ts.
import type { Database } from '../../postgres/database.ts';
import { statement } from '../../postgres/statement.ts';

export const statements = {
  promote: statement<{ count: number }>('select promote_due_runs($1) as count'),
  count: statement('select count_queued_runs()'),
  repairGraphs: statement<RepairStep>('select last, repaired from repair_ready_graphs($1, $2)'),
  graphs: statement<{ graphs: string[] }>('select ready_graphs() as graphs'),
};

/** Result of one step of a repair, which walks over the queue. */
export interface RepairStep {
  /** Where the next step continues; null after the last step. */
  last: string | null;
  repaired: number;
}

const promotionsMax = 100;

export type RunQueueStorage = ReturnType<typeof runQueueStorage>;

export const runQueueStorage = (db: Database) => ({
  /** Queues delayed runs that are due. */
  async promote(): Promise<void> {
    let count: number;
    do {
      const [row] = await db.query(statements.promote, [promotionsMax]);
      count = row?.count ?? 0;
    } while (count >= promotionsMax);
  },

  /** Stores the number of pending runs. */
  async count(): Promise<void> {
    await db.query(statements.count, []);
  },

  /** Graphs of the runs that wait for a slot. */
  async readyGraphs(): Promise<string[]> {
    return (await db.query(statements.graphs, []))[0]?.graphs ?? [];
  },

  /** Repairs the queues of the next assistants in the queue of a graph. */
  async repairGraphs(graph_id: string, after: string | null): Promise<RepairStep> {
    const [step] = await db.query(statements.repairGraphs, [graph_id, after]);
    return step ?? { last: null, repaired: 0 };
  },
});
