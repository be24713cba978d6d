// Writers of a commit queue for tests: attempts of runs and state updates, with the parts that an executor uses.
import { randomUUID } from 'node:crypto';
import { emptyCheckpoint, uuid6 } from '@langchain/langgraph-checkpoint';
import type { CommitQueue } from '../../src/engine/checkpoints/commit-queue.ts';
import { JointWriter } from '../../src/engine/checkpoints/joint-writer.ts';
import { RecentBlobs } from '../../src/engine/checkpoints/recent-blobs.ts';
import { ThreadSession } from '../../src/engine/checkpoints/thread-session.ts';
import { EventBudget } from '../../src/engine/executor/events/event-budget.ts';
import { RunEventWriter } from '../../src/engine/executor/events/run-event-writer.ts';
import type { Owner } from '../../src/storage/deployment/checkpoints/checkpoint-rows.ts';
import { codec } from './thread-savers.ts';

/** Text of this length that PostgreSQL cannot compress. */
export const incompressible = (length: number): string => {
  let text = '';
  while (text.length < length) text += randomUUID();
  return text.slice(0, length);
};

interface AttemptOptions {
  queue: CommitQueue;
  owner: Owner;
  thread_id: string;
  /** Null for a state update. */
  run_id: string | null;
}

/** `step` stores a checkpoint and its `updates`; `bad` a write that the database refuses; `large` more than a flush takes. */
export type Step = 'step' | 'bad' | 'large';

export const openAttempt = ({ queue, owner, thread_id, run_id }: AttemptOptions) => {
  const { lease_token } = owner;
  const events: RunEventWriter | undefined =
    lease_token === undefined
      ? undefined
      : new RunEventWriter({
          owner: { ...owner, lease_token },
          firstId: 0,
          budget: new EventBudget(),
          commit: () => queue.commit(joint!),
          send: () => undefined,
          onFailure: () => undefined,
        });
  const joint: JointWriter | undefined = events && new JointWriter(queue, events);
  const session = new ThreadSession({
    owner,
    thread_id,
    blob_space: thread_id,
    head: null,
    run_id,
    metadata: {},
    sync: false,
    isAtomic: run_id === null,
    committer: joint ?? queue,
    codec,
    recent: new RecentBlobs(),
    onFailure: () => undefined,
  });
  if (joint) joint.session = session;
  events?.log();
  let parent: string | undefined;
  let steps = 0;
  return {
    session,
    events,
    async store(step: Step): Promise<void> {
      if (step === 'bad') {
        if (parent === undefined) await this.store('step');
        return session.putWrites('', parent!, [['log', 'x']], incompressible(6_000));
      }
      const number = steps++;
      const values = step === 'large' ? { out: incompressible(9 * 1024 * 1024) } : {};
      const one = {
        ...emptyCheckpoint(),
        id: uuid6(number + 1),
        channel_values: values,
        channel_versions: step === 'large' ? { out: number + 1 } : {},
      };
      events?.emit('updates', String(number));
      parent = await session.put('', parent, one, { source: 'loop', step: number, parents: {} });
    },
    end: (): Promise<void> =>
      session.end({
        status: run_id === null ? null : 'success',
        ending: null,
        interrupts: null,
        error: null,
        values: null,
        told: false,
      }),
    /** Supersteps so far. */
    get steps() {
      return steps;
    },
  };
};

export type AttemptWriter = ReturnType<typeof openAttempt>;
