import { newThread, said, type Run, type Scenario, type State } from '../scenario.ts';

export const runs: Scenario = {
  name: 'runs',
  async run(wire) {
    const thread = await newThread(wire);
    const body = {
      assistant_id: 'log',
      input: { log: ['in'] },
      metadata: { of: 'run' },
      config: { tags: ['t'], recursion_limit: 20, configurable: { mine: 1 } },
    };
    const { run_id } = await wire.call<Run>('create', 'POST', `${thread}/runs`, { body });
    const run = `${thread}/runs/${run_id}`;
    await wire.call('join', 'GET', `${run}/join`);
    await wire.call('get', 'GET', run);
    await wire.call('list', 'GET', `${thread}/runs`);
    await wire.call('join finished', 'GET', `${run}/join`);
    await wire.call('wait', 'POST', `${thread}/runs/wait`, { body: { assistant_id: 'log', input: {} } });
    await wire.call('wait for messages', 'POST', `${await newThread(wire)}/runs/wait`, {
      body: { assistant_id: 'chat', input: said('hi') },
    });
    const listed = await wire.send<Run[]>('GET', `${thread}/runs`);
    wire.note(
      'order of the list',
      listed.map((one) => (one.run_id === run_id ? 'first run' : 'second run')),
    );
    await wire.call('list by status', 'GET', `${thread}/runs?status=pending`);
    await wire.call('cancel finished', 'POST', `${run}/cancel`);
    await wire.call('delete', 'DELETE', run);
    await wire.call('get deleted', 'GET', run);
    await wire.call('join deleted', 'GET', `${run}/join`);
    await wire.call('cancel deleted', 'POST', `${run}/cancel`);
    await wire.call('delete deleted', 'DELETE', run);
    await wire.call('state after deletion', 'GET', `${thread}/state`);
    await wire.call('limited steps', 'POST', `${thread}/runs/wait`, {
      body: { assistant_id: 'log', input: {}, config: { recursion_limit: 1 } },
    });
    await wire.call(
      'a thread made by a run',
      'POST',
      '/threads/dddddddd-0000-4000-8000-000000000001/runs/wait',
      {
        body: { assistant_id: 'log', input: {}, if_not_exists: 'create' },
      },
    );
    await wire.call('the thread made', 'GET', '/threads/dddddddd-0000-4000-8000-000000000001');
  },
};

export const statelessRuns: Scenario = {
  name: 'stateless runs',
  async run(wire) {
    await wire.call('wait', 'POST', '/runs/wait', { body: { assistant_id: 'log', input: { log: ['in'] } } });
    await wire.call('stream', 'POST', '/runs/stream', {
      body: { assistant_id: 'log', input: { log: ['in'] }, stream_mode: ['values', 'updates'] },
    });
    await wire.call('create', 'POST', '/runs', { body: { assistant_id: 'log', input: {} } });
    await wire.call('batch', 'POST', '/runs/batch', {
      body: [
        { assistant_id: 'log', input: { log: ['a'] } },
        { assistant_id: 'log', input: { log: ['b'] } },
      ],
    });
    await wire.call('wait for a failure', 'POST', '/runs/wait', {
      body: { assistant_id: 'acts', input: { do: 'throw' } },
    });
    await wire.call('wait for an interrupt', 'POST', '/runs/wait', {
      body: { assistant_id: 'approval', input: { log: [] } },
    });
    await wire.call('kept', 'POST', '/runs/wait', {
      body: { assistant_id: 'log', input: {}, on_completion: 'keep', metadata: { kept: true } },
    });
    await wire.call('the thread that is kept', 'POST', '/threads/search', {
      body: { metadata: { kept: true } },
    });
  },
};

export const cancelledRuns: Scenario = {
  name: 'cancelled runs',
  async run(wire) {
    for (const action of ['interrupt', 'rollback']) {
      const thread = await newThread(wire);
      await wire.send('POST', `${thread}/runs/wait`, {
        body: { assistant_id: 'acts', input: { do: 'context' } },
      });
      let run = '';
      await wire.follow(
        `${action}: stream`,
        'POST',
        `${thread}/runs/stream`,
        { body: { assistant_id: 'acts', input: { do: 'wait' }, stream_mode: ['custom'] } },
        async ({ event, data }) => {
          if (event === 'metadata') run = `${thread}/runs/${(data as unknown as Run).run_id}`;
          if (event !== 'custom') return;
          const { status } = await wire.send<{ status: string }>('GET', thread);
          wire.note(`${action}: status of the thread`, status);
          await wire.call(`${action}: update of a busy thread`, 'POST', `${thread}/state`, {
            body: { values: { out: 1 }, as_node: 'act' },
          });
          await wire.call(`${action}: cancel`, 'POST', `${run}/cancel?wait=1&action=${action}`);
        },
      );
      await wire.call(`${action}: run`, 'GET', run);
      const { status } = await wire.send<{ status: string }>('GET', thread);
      wire.note(`${action}: status of the thread after`, status);
      const history = await wire.send<State[]>('POST', `${thread}/history`, { body: {} });
      wire.note(
        `${action}: history`,
        history.map(({ next, values }) => ({ next, values })),
      );
    }
  },
};
