import { newThread, type Scenario } from '../scenario.ts';

export const interrupts: Scenario = {
  name: 'interrupts',
  async run(wire) {
    const thread = await newThread(wire);
    const stream = (step: string, body: object) =>
      wire.call(step, 'POST', `${thread}/runs/stream`, {
        body: { assistant_id: 'approval', stream_mode: ['values', 'updates'], ...body },
      });
    await stream('stream', { input: { log: ['in'] } });
    await wire.call('thread', 'GET', thread);
    await wire.call('state', 'GET', `${thread}/state`);
    await stream('resume', { command: { resume: 'yes' } });
    await wire.call('thread after', 'GET', thread);
    await wire.call('history', 'POST', `${thread}/history`, { body: { limit: 50 } });
    await stream('resume without an interrupt', { command: { resume: 'again' } });
    await stream('goto and update', { command: { goto: 'send', update: { log: ['jumped'] } } });
    const waited = await newThread(wire);
    await wire.call('wait', 'POST', `${waited}/runs/wait`, {
      body: { assistant_id: 'approval', input: { log: [] } },
    });
    await wire.call('wait for the resumed', 'POST', `${waited}/runs/wait`, {
      body: { assistant_id: 'approval', command: { resume: { any: 'value' } } },
    });
  },
};

export const breakpoints: Scenario = {
  name: 'breakpoints',
  async run(wire) {
    const thread = await newThread(wire);
    const stream = (step: string, body: object) =>
      wire.call(step, 'POST', `${thread}/runs/stream`, {
        body: { assistant_id: 'log', stream_mode: ['values', 'updates'], ...body },
      });
    await stream('before', { input: { log: ['in'] }, interrupt_before: ['second'] });
    await wire.call('thread', 'GET', thread);
    await wire.call('state', 'GET', `${thread}/state`);
    await stream('continue', { input: null });
    await stream('after', { input: {}, interrupt_after: ['first'] });
    await stream('all', { input: {}, interrupt_before: '*' });
    await wire.call('wait', 'POST', `${await newThread(wire)}/runs/wait`, {
      body: { assistant_id: 'log', input: {}, interrupt_before: ['second'] },
    });
  },
};

export const parallelInterrupts: Scenario = {
  name: 'parallel interrupts',
  async run(wire) {
    const thread = await newThread(wire);
    await wire.call('wait', 'POST', `${thread}/runs/wait`, {
      body: { assistant_id: 'questions', input: { log: [] } },
    });
    const { interrupts } = await wire.call<{ interrupts: Record<string, { id: string; value: string }[]> }>(
      'thread',
      'GET',
      thread,
    );
    await wire.call('state', 'GET', `${thread}/state`);
    const asked = Object.values(interrupts).flat();
    const resume = Object.fromEntries(asked.map(({ id, value }) => [id, `${value}!`]));
    await wire.call('resume', 'POST', `${thread}/runs/wait`, {
      body: { assistant_id: 'questions', command: { resume } },
    });
  },
};
