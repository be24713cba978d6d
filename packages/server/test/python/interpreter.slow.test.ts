// An executor whose interpreter cannot start.
import { symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { expect } from 'vitest';
import { executorEnvironment } from '../../src/config/environment.ts';
import { OwnAddress } from '../../src/engine/executor/own-address.ts';
import { PythonGraphs } from '../../src/engine/python/python-graphs.ts';
import { testFolder } from '../folders.ts';
import { itWithPythonClients, python } from '../python-clients/python.ts';

itWithPythonClients('graphs are loaded once their environment exists', async () => {
  const environment = join(testFolder(), '.venv');
  const graphs = new PythonGraphs({
    python: { interpreter: join(environment, 'bin/python3'), paths: [], storedClasses: [] },
    sources: {
      echo: { file: fileURLToPath(new URL('graphs/agent.py', import.meta.url)), export: 'echo_graph' },
    },
    env: executorEnvironment(),
    address: new OwnAddress(),
    logger: pino({ level: 'silent' }),
    onModules: () => undefined,
    onLost: () => undefined,
  });
  const failure = /^Graph "echo" cannot be loaded: .*ENOENT.*\.venv\/bin\/python3 must be able to start$/;
  expect(await graphs.loadAll()).toMatchObject({ failures: [{ message: expect.stringMatching(failure) }] });
  await expect(graphs.get('echo')).rejects.toThrow(failure);
  symlinkSync(dirname(dirname(python)), environment);
  expect((await graphs.get('echo')).nodes).toHaveProperty('echo');
  expect(await graphs.loadAll()).toEqual({ failures: [], notices: [] });
});
