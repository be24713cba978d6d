// The queue of pending runs: what moves runs in it, apart from claims (run-leases.ts) and from what happens on their threads.
import type { Database } from '../postgres/database.ts';

const statements = {
  promote: { name: 'queue_promote', text: 'select promote_due_runs($1) as count' },
  count: { name: 'queue_count', text: 'select count_queued_runs()' },
  repairThreads: {
    name: 'queue_repair_threads',
    text: 'select last, repaired from repair_waiting_threads($1, $2)',
  },
  repairGraphs: {
    name: 'queue_repair_graphs',
    text: 'select last, repaired from repair_ready_graphs($1, $2)',
  },
  graphs: { name: 'queue_graphs', text: 'select ready_graphs() as graphs' },
};

/** A step of a walk over the queue. */
export interface RepairStep {
  /** To go on after; null after the last step. */
  last: string | null;
  repaired: number;
}

const promotionsMax = 100;
const threadsMax = 1_000;

export type RunQueueStorage = ReturnType<typeof runQueueStorage>;

export const runQueueStorage = (db: Database) => ({
  /** Queues delayed runs whose time has come. */
  async promote(): Promise<void> {
    let count: number;
    do {
      const [row] = await db.query<{ count: number }>(statements.promote, [promotionsMax]);
      count = row?.count ?? 0;
    } while (count >= promotionsMax);
  },

  /** Writes down how many runs are pending. */
  async count(): Promise<void> {
    await db.query(statements.count, []);
  },

  /** Looks at the next threads on which runs wait. */
  async repairThreads(after: string | null): Promise<RepairStep> {
    const [step] = await db.query<RepairStep>(statements.repairThreads, [after, threadsMax]);
    return step ?? { last: null, repaired: 0 };
  },

  /** Graphs of the runs that wait for a slot. */
  async readyGraphs(): Promise<string[]> {
    return (await db.query<{ graphs: string[] }>(statements.graphs, []))[0]?.graphs ?? [];
  },

  /** Looks at the next assistants whose runs wait for a slot in the queues of the graph. */
  async repairGraphs(graph_id: string, after: string | null): Promise<RepairStep> {
    const [step] = await db.query<RepairStep>(statements.repairGraphs, [graph_id, after]);
    return step ?? { last: null, repaired: 0 };
  },
});
