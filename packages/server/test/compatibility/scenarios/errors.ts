import { newThread, type Scenario } from '../scenario.ts';

const unknown = 'ffffffff-0000-4000-8000-000000000001';

export const errors: Scenario = {
  name: 'errors',
  async run(wire) {
    const thread = await newThread(wire);
    const post = (step: string, path: string, body: unknown) => wire.call(step, 'POST', path, { body });
    await post('run of an unknown graph', `${thread}/runs`, { assistant_id: 'nothing', input: {} });
    await post('run of an unknown assistant', `${thread}/runs`, { assistant_id: unknown, input: {} });
    await post('stream of an unknown graph', `${thread}/runs/stream`, { assistant_id: 'nothing', input: {} });
    await post('wait for an unknown graph', '/runs/wait', { assistant_id: 'nothing', input: {} });
    await post('run without assistant', `${thread}/runs`, { input: {} });
    await post('run with a wrong mode', `${thread}/runs`, {
      assistant_id: 'log',
      input: {},
      stream_mode: ['x'],
    });
    await post('run with an unknown key', `${thread}/runs/wait`, {
      assistant_id: 'log',
      input: {},
      unknown_key: 1,
    });
    await post('run on an unknown thread', `/threads/${unknown}/runs`, { assistant_id: 'log', input: {} });
    await post('run with a wrong input', `${thread}/runs/wait`, { assistant_id: 'log', input: 'text' });
    await post('run with nothing to do', `${await newThread(wire)}/runs/wait`, {
      assistant_id: 'log',
      input: null,
    });
    await post('no JSON', '/threads', '{');
    await post('a list as body', '/threads', []);
    await post('a thread id that is none', '/threads', { thread_id: 'x' });
    await wire.call('unknown route', 'GET', '/nothing');
    await wire.call('failed run, stream', 'POST', `${thread}/runs/stream`, {
      body: { assistant_id: 'acts', input: { do: 'throw' }, stream_mode: ['values', 'updates'] },
    });
    const failed = await newThread(wire);
    await wire.call('failed run, wait', 'POST', `${failed}/runs/wait`, {
      body: { assistant_id: 'acts', input: { do: 'throw' } },
    });
    await wire.call('failed run', 'GET', `${failed}/runs`);
    await wire.call('run of unknown thread', 'GET', `/threads/${unknown}/runs/${unknown}`);
    await wire.call('run that is unknown', 'GET', `${thread}/runs/${unknown}`);
    await wire.call('runs of unknown thread', 'GET', `/threads/${unknown}/runs`);
  },
};
