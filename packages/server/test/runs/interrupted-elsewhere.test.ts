// The result of an interrupted run, at a node that did not execute it, and after its end.
import { describe, expect, it } from 'vitest';
import { testDatabase } from '../database.ts';
import { startTestServer } from '../server.ts';
import { fixture } from '../fixture.ts';

const database = fixture(() => testDatabase());
const api = fixture(() => startTestServer({ database, executors: 'none' }));
fixture(() => startTestServer({ database, settings: { role: 'worker' } }));

const newThread = async (): Promise<string> => {
  const { body } = await api.call('POST', '/threads', {});
  return `/threads/${(body as { thread_id: string }).thread_id}`;
};

describe('the result of a run that reached an interrupt', () => {
  it('contains __interrupt__ when another node executes the run', async () => {
    const thread = await newThread();
    const wait = await api.call('POST', `${thread}/runs/wait`, { assistant_id: 'approval', input: {} });
    const interrupts = [{ id: expect.any(String), value: { question: 'send?' } }];
    expect(wait.body).toMatchObject({ __interrupt__: interrupts });
    const [run] = (await api.call('GET', `${thread}/runs`)).body as { run_id: string }[];
    const join = await api.call('GET', `${thread}/runs/${run!.run_id}/join`);
    expect(join.body).toEqual(wait.body);
    const answer = { assistant_id: 'approval', command: { resume: 'yes' } };
    const end = await api.call('POST', `${thread}/runs/wait`, answer);
    expect(end.body).not.toHaveProperty('__interrupt__');
  });

  it('contains only the interrupts without an answer', async () => {
    const thread = await newThread();
    const wait = (more: object) =>
      api.call('POST', `${thread}/runs/wait`, { assistant_id: 'questions', ...more });
    const { body } = await wait({ input: {} });
    const { __interrupt__: both } = body as { __interrupt__: { id: string; value: string }[] };
    expect(both.map(({ value }) => value).toSorted()).toEqual(['first?', 'second?']);
    const first = both.find(({ value }) => value === 'first?')!;
    const next = await wait({ command: { resume: { [first.id]: 'one' } } });
    expect(next.body).toMatchObject({ __interrupt__: [{ value: 'second?' }] });
  });
});
