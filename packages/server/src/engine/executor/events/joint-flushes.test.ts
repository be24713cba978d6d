// The checkpoints and the events of an attempt are stored together, or neither is.
import * as documents from '@langchain/core/documents';
import * as messages from '@langchain/core/messages';
import * as langgraph from '@langchain/langgraph';
import * as checkpoint from '@langchain/langgraph-checkpoint';
import { emptyCheckpoint, uuid6 } from '@langchain/langgraph-checkpoint';
import { describe, expect, it } from 'vitest';
import type { CheckpointBatch } from '../../../storage/deployment/checkpoints/checkpoint-rows.ts';
import { CommitQueue } from '../../checkpoints/commit-queue.ts';
import { JointWriter } from '../../checkpoints/joint-writer.ts';
import { RecentBlobs } from '../../checkpoints/recent-blobs.ts';
import { ThreadSession } from '../../checkpoints/thread-session.ts';
import { createCodec } from '../../codec/value-codec.ts';
import { EventBudget } from './event-budget.ts';
import { RunEventWriter } from './run-event-writer.ts';

const codec = createCodec({ messages, langgraph, checkpoint, documents });

/** An attempt of a logged run. `answer` is called for each flush. */
const openAttempt = (answer: (flush: number) => Promise<string[]>) => {
  const flushes: { steps: number[]; updates: { id: number; step: number }[]; others: string[] }[] = [];
  const commit = (batch: CheckpointBatch): Promise<string[]> => {
    const events = batch.events.flatMap(({ first_id, events: text }) => {
      const lines = text.trimEnd().split('\n');
      return lines.flatMap((event, at) =>
        at % 2 === 0 ? [{ id: first_id + at / 2, event, data: lines[at + 1] ?? '' }] : [],
      );
    });
    flushes.push({
      steps: batch.checkpoints.map(({ metadata }) => (JSON.parse(metadata) as { step: number }).step),
      updates: events.flatMap(({ id, event, data }) =>
        event === 'updates' ? [{ id, step: Number(data) }] : [],
      ),
      others: events.filter(({ event }) => event !== 'updates').map(({ id, event }) => `${id} ${event}`),
    });
    return answer(flushes.length);
  };
  const queue = new CommitQueue({ commit });
  const failures: Error[] = [];
  const budget = new EventBudget();
  const events: RunEventWriter = new RunEventWriter({
    owner: { owner: 'run', lease_token: 1 },
    firstId: 0,
    budget,
    commit: () => queue.commit(writer),
    send: () => undefined,
    onFailure: (error) => void failures.push(error),
  });
  const writer: JointWriter = new JointWriter(queue, events);
  events.log();
  const session = new ThreadSession({
    owner: writer.owner,
    thread_id: 'thread',
    blob_space: 'thread',
    head: null,
    run_id: 'run',
    metadata: {},
    sync: false,
    committer: writer,
    codec,
    recent: new RecentBlobs(),
    onFailure: (error) => void failures.push(error),
  });
  writer.session = session;
  let parent: string | undefined;
  /** A superstep: its `updates`, and its checkpoint. */
  const step = async (number: number): Promise<void> => {
    events.emit('updates', String(number));
    const one = { ...emptyCheckpoint(), id: uuid6(number + 1) };
    parent = await session.put('', parent, one, { source: 'loop', step: number, parents: {} });
  };
  return { step, events, session, flushes, failures, budget };
};

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('an attempt that is lost during a flush', () => {
  it('stores what waits with its events', async () => {
    let release!: () => void;
    const held = new Promise<string[]>((resolve) => (release = () => resolve([])));
    const attempt = openAttempt((flush) => (flush === 1 ? held : Promise.resolve([])));
    await attempt.step(0);
    await turn();
    expect(attempt.flushes).toHaveLength(1);
    await attempt.step(1);
    // The graph fails, because it cannot read from the database. A node of it still executes.
    attempt.session.seal();
    attempt.events.close();
    await attempt.step(2).catch(() => undefined);
    release();
    await attempt.session.flush();
    expect(attempt.flushes).toEqual([
      { steps: [0], updates: [{ id: 0, step: 0 }], others: [] },
      { steps: [1], updates: [{ id: 1, step: 1 }], others: [] },
    ]);
    expect(attempt.budget.bytes).toBe(0);
  });
});

describe('an attempt of which a flush is refused', () => {
  it('stores neither that nor what came after it, and leaves no gap in its log', async () => {
    let refuse!: () => void;
    const refused = new Promise<string[]>((_, reject) => (refuse = () => reject(new Error('refused'))));
    const attempt = openAttempt((flush) => (flush === 2 ? refused : Promise.resolve([])));
    await attempt.step(0);
    await attempt.session.flush();
    await attempt.step(1);
    await turn();
    await attempt.step(2);
    refuse();
    await expect(attempt.session.flush()).rejects.toThrow();
    attempt.events.emit('error', '{}');
    await turn();
    await turn();
    expect(attempt.flushes.map(({ steps }) => steps).flat()).toEqual([0, 1]);
    expect(attempt.flushes.at(-1)).toEqual({ steps: [], updates: [], others: ['1 error'] });
    expect(attempt.session.hasFailed).toBe(true);
    await expect(attempt.step(3)).rejects.toThrow('The checkpoint could not be written');
  });
});
