// Inputs that are sent into a run while it executes.
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { fixture } from '../fixture.ts';
import { startTestServer } from '../server.ts';
import { whyNoPythonClients } from '../python-clients/python.ts';
import { collect } from '../collect.ts';
import { human, Steps, type StepValues } from './steps.ts';

const projectOf = (language: string): string =>
  fileURLToPath(new URL(`${language}/svc.json`, import.meta.url));

const key = 'a-key-for-traces-of-inputs-0123456789-0123';
const languages = ['javascript', ...(whyNoPythonClients() === undefined ? ['python'] : [])];

describe.each(languages)('a run of a %s graph', (language) => {
  const server = fixture(() =>
    startTestServer({
      project: projectOf(language),
      executors: 'ready',
      settings: { tracing: 'on', bootstrapApiKey: key },
    }),
  );

  it('takes an input before its next superstep, and executes no step twice', async () => {
    const steps = new Steps(server);
    const { run_id } = await steps.start(['step', 'step', 'step']);
    await steps.untilBegun('0');
    const input = await steps.sent(run_id, { ...human('also this'), note: 'x' });
    expect(input).toMatchObject({ status: 'pending', thread_id: steps.thread_id });
    await steps.open('0', '1', '2');
    expect(await steps.ended(run_id)).toMatchObject({ status: 'success', attempt: 1 });
    expect(await steps.ended(input.run_id)).toMatchObject({
      status: 'interrupted',
      cancel_reason: `taken: run ${run_id} has absorbed the input`,
    });
    const { seen, note } = await steps.values();
    expect(seen).toEqual(['0 hi', '1 hi,also this', '2 hi,also this']);
    expect(note).toBe('x');
    for (const step of ['0', '1', '2']) expect(await steps.begun(step)).toBe(1);
  });

  it('takes messages in the order in which they were sent, at one superstep', async () => {
    const steps = new Steps(server);
    const { run_id } = await steps.start(['step', 'step']);
    await steps.untilBegun('0');
    for (const text of ['a', 'b', 'c']) await steps.sent(run_id, human(text));
    await steps.open('0', '1');
    await steps.ended(run_id);
    expect((await steps.values()).seen).toEqual(['0 hi', '1 hi,a,b,c']);
  });

  it('takes inputs for other channels at one superstep each', async () => {
    const steps = new Steps(server);
    const { run_id } = await steps.start(['step', 'step', 'step', 'step']);
    await steps.untilBegun('0');
    await steps.sent(run_id, { note: 'first', ...human('a') });
    await steps.sent(run_id, { note: 'second', ...human('b') });
    await steps.sent(run_id, human('c'));
    await steps.open('0', '1', '2', '3');
    await steps.ended(run_id);
    const { seen, note } = await steps.values();
    expect(seen).toEqual(['0 hi', '1 hi,a', '2 hi,a,b', '3 hi,a,b,c']);
    expect(note).toBe('second');
  });

  it('takes no message between the call of a tool and its result', async () => {
    const steps = new Steps(server);
    const { run_id } = await steps.start(['call', 'tool', 'step'], { stream_mode: ['updates'] });
    await steps.untilBegun('0');
    await steps.sent(run_id, human('wait'));
    await steps.open('0', '1', '2');
    await steps.ended(run_id);
    expect(await steps.texts()).toEqual(['hi', 'calls', 'result', 'wait']);
    expect((await steps.values()).seen).toEqual(['2 hi,calls,result,wait']);
    for (const step of ['0', '1', '2']) expect(await steps.begun(step)).toBe(1);
  });

  it('goes on in a subgraph, and takes the input after it', async () => {
    const steps = new Steps(server);
    const { run_id } = await steps.start(['sub', 'step']);
    await steps.untilBegun('0-first');
    await steps.sent(run_id, human('after'));
    await steps.open('0-first', '0-second', '1');
    await steps.ended(run_id);
    expect((await steps.values()).seen).toEqual(['1 hi,after']);
    for (const step of ['0-first', '0-second', '1']) expect(await steps.begun(step)).toBe(1);
  });

  it('that asks a question leaves the input to the run that answers', async () => {
    const steps = new Steps(server);
    const { run_id } = await steps.start(['ask', 'step']);
    await steps.untilBegun('0');
    const input = await steps.sent(run_id, human('later'));
    await steps.open('0');
    await steps.ended(run_id);
    const thread = await steps.client.threads.get(steps.thread_id);
    expect(thread.status).toBe('interrupted');
    expect(await steps.run(input.run_id)).toMatchObject({
      status: 'pending',
      waiting_for: { reason: 'answer' },
    });
    const refused = { status: 409, body: { detail: expect.stringContaining('command.resume') as string } };
    expect(await steps.send(run_id, human('now'))).toMatchObject(refused);

    const resumed = await steps.client.runs.create(steps.thread_id, 'steps', {
      command: { resume: 'yes' },
      multitask_strategy: 'reject',
    });
    await steps.open('1');
    expect(await steps.ended(resumed.run_id)).toMatchObject({ status: 'success' });
    expect((await steps.values()).seen).toEqual(['0 yes hi', '1 hi,later']);
    expect((await steps.run(input.run_id)).cancel_reason).toContain(resumed.run_id);
  });

  it('that ends before its next superstep leaves the input to a run of its own', async () => {
    const steps = new Steps(server);
    const { run_id } = await steps.start(['step']);
    await steps.untilBegun('0');
    const [first, second] = [await steps.sent(run_id, human('a')), await steps.sent(run_id, human('b'))];
    await steps.open('0');
    for (const run of [run_id, first.run_id])
      expect(await steps.ended(run)).toMatchObject({ status: 'success' });
    await steps.ended(second.run_id);
    expect(await steps.texts()).toEqual(['hi', 'a', 'b']);
  });

  it('that has ended gets no input: it starts a run', async () => {
    const steps = new Steps(server);
    const { run_id } = await steps.start(['step']);
    await steps.open('0');
    await steps.ended(run_id);
    const input = await steps.sent(run_id, { ...human('again'), at: 0 });
    expect(await steps.ended(input.run_id)).toMatchObject({
      status: 'success',
      assistant_id: (await steps.run(run_id)).assistant_id,
    });
    expect((await steps.values()).seen).toEqual(['0 hi', '0 hi,again']);
  });

  it('that waits for its thread takes its inputs when it executes, and the run before it does not', async () => {
    const steps = new Steps(server);
    const first = await steps.start(['step', 'step']);
    const { run_id } = await steps.start(['step', 'step']);
    await steps.untilBegun('0');
    const input = await steps.sent(run_id, human('mine'));
    await steps.open('0', '1');
    for (const run of [first.run_id, run_id]) await steps.ended(run);
    expect((await steps.run(input.run_id)).cancel_reason).toContain(run_id);
    expect((await steps.values()).seen).toEqual(['0 hi', '1 hi', '0 hi,hi,mine', '1 hi,hi,mine']);
  });

  it('shows the input with its author in its events, its state and its history', async () => {
    const steps = new Steps(server);
    const { run_id } = await steps.start(['step', 'step'], {
      stream_mode: ['updates', 'values'],
      stream_resumable: true,
    });
    await steps.untilBegun('0');
    const input = await steps.sent(run_id, human('shown'));
    await steps.open('0');
    await steps.untilBegun('1');
    await eventually(async () => expect(await steps.texts()).toEqual(['hi', 'shown']));
    await steps.open('1');
    await steps.ended(run_id);
    const events = await collect(
      steps.client.runs.joinStream(steps.thread_id, run_id, { lastEventId: '-1' }),
    );
    const message = { role: 'user', content: 'shown', id: `${input.run_id}-0` };
    expect(events.map(({ event, data }) => (event === 'updates' ? data : event)).slice(1)).toMatchObject([
      'values',
      { step: { at: 1 } },
      'values',
      {
        __input__: { messages: [message] },
        __metadata__: { run_id: input.run_id, author: null, created_at: input.created_at },
      },
      'values',
      { step: { at: 2 } },
      'values',
    ]);
    const history = await steps.client.threads.getHistory(steps.thread_id);
    const counts = history.map(({ values }) => (values as StepValues).messages?.length ?? 0);
    expect(counts).toEqual([2, 2, 1, 0]);
    expect((await steps.values()).messages?.[1]).toMatchObject({ id: `${input.run_id}-0`, type: 'human' });
  });

  it('with durability exit leaves inputs to runs of their own', async () => {
    const steps = new Steps(server);
    const { run_id } = await steps.start(['step', 'step'], { durability: 'exit' });
    await steps.untilBegun('0');
    const input = await steps.sent(run_id, human('own'));
    await steps.open('0', '1');
    expect(await steps.ended(run_id)).toMatchObject({ status: 'success' });
    expect(await steps.ended(input.run_id)).toMatchObject({ status: 'success' });
    expect((await steps.values()).seen).toEqual(['0 hi', '1 hi']);
  });

  it('ends at its recursion limit, which counts its steps before and after an input', async () => {
    const steps = new Steps(server);
    const config = { recursion_limit: 3 };
    const { run_id } = await steps.start(['step', 'step', 'step', 'step', 'step'], { config });
    await steps.untilBegun('0');
    await steps.sent(run_id, human('more'));
    await steps.open('0', '1', '2', '3', '4');
    const { status, error } = await steps.ended(run_id);
    expect({ status, error }).toMatchObject({ status: 'error', error: { error: 'GraphRecursionError' } });
    expect((await steps.values()).seen).toHaveLength(3);
  });

  it('goes on without an input that a reducer refuses; the run of this input fails', async () => {
    const steps = new Steps(server);
    const { run_id } = await steps.start(['step', 'step', 'step', 'step']);
    await steps.untilBegun('0');
    await steps.sent(run_id, human('a'));
    const refused = await steps.sent(run_id, { messages: [{ nothing: true }] });
    await steps.sent(run_id, human('b'));
    await steps.open('0', '1', '2', '3');
    expect(await steps.ended(run_id)).toMatchObject({ status: 'success' });
    expect(await steps.texts()).toEqual(['hi', 'a', 'b']);
    expect(await steps.ended(refused.run_id)).toMatchObject({ status: 'error' });
    const next = await steps.start(['step']);
    expect(await steps.ended(next.run_id)).toMatchObject({ status: 'success' });
  });

  it('is one trace, with the steps before and after an input', async () => {
    const steps = new Steps(server);
    const { run_id } = await steps.start(['step', 'step']);
    await steps.untilBegun('0');
    await steps.sent(run_id, human('traced'));
    await steps.open('0', '1');
    await steps.ended(run_id);
    const traced = await eventually(async () => {
      const { body } = await server.call(
        'POST',
        '/api/v1/runs/query',
        { trace: run_id },
        { 'x-api-key': key },
      );
      const { runs } = body as { runs: Traced[] };
      expect(runs.find(({ id }) => id === run_id)?.end_time).toBeTypeOf('string');
      return runs;
    });
    const root = traced.find(({ id }) => id === run_id);
    expect(root).toMatchObject({ status: 'success', name: 'steps', inputs: { plan: ['step', 'step'] } });
    expect(JSON.stringify(root?.outputs)).toContain('1 hi,traced');
    const children = traced.filter(({ name }) => name === 'step');
    expect(children).toHaveLength(2);
    for (const child of children) {
      expect(child).toMatchObject({ parent_run_id: run_id, status: 'success' });
      expect(child.dotted_order.startsWith(`${root?.dotted_order}.`)).toBe(true);
    }
  });
});

interface Traced {
  id: string;
  name: string;
  status: string;
  parent_run_id: string | null;
  end_time: string | null;
  dotted_order: string;
  outputs: unknown;
}
