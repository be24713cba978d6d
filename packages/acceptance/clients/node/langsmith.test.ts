// The tracer of langsmith sends its traces to the server and reads them again.
import { randomUUID } from 'node:crypto';
import * as newest from 'langsmith';
import * as newestTraceable from 'langsmith/traceable';
import * as v10 from 'langsmith-0.10';
import * as v10Traceable from 'langsmith-0.10/traceable';
import * as v11 from 'langsmith-0.11';
import * as v11Traceable from 'langsmith-0.11/traceable';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collect } from '../../../server/test/collect.ts';
import { eventually } from '../../../server/test/eventually.ts';
import { openServer, platformKey, type Server } from '../../deployment.ts';

let server: Server;
beforeAll(async () => {
  server = await openServer();
});
afterAll(() => server?.[Symbol.asyncDispose]());

type Langsmith = Pick<typeof newest, 'Client' | '__version__'>;

/** The types of the versions differ in private members only. */
const versions = [
  {
    langsmith: v10 as unknown as Langsmith,
    traceable: v10Traceable.traceable as typeof newestTraceable.traceable,
  },
  {
    langsmith: v11 as unknown as Langsmith,
    traceable: v11Traceable.traceable as typeof newestTraceable.traceable,
  },
  { langsmith: newest, traceable: newestTraceable.traceable },
];

describe.each(versions)(
  'the tracer of langsmith $langsmith.__version__',
  ({ langsmith: { Client }, traceable }) => {
    let client: newest.Client;
    beforeAll(() => {
      client = new Client({ apiUrl: `${server.url}/api/v1`, apiKey: platformKey });
    });

    it('sends a trace with its child, and reads both', async () => {
      const project_name = randomUUID();
      const options = { client, project_name, tracingEnabled: true };
      const double = traceable((value: number) => value * 2, { name: 'double', run_type: 'tool' });
      const answer = traceable((value: number) => double(value), { ...options, name: 'answer' });
      expect(await answer(21)).toBe(42);
      await client.awaitPendingTraceBatches();
      await eventually(async () => {
        const runs = await collect(client.listRuns({ projectName: project_name }));
        expect(runs.map(({ name, run_type }) => ({ name, run_type }))).toEqual(
          expect.arrayContaining([
            { name: 'answer', run_type: 'chain' },
            { name: 'double', run_type: 'tool' },
          ]),
        );
        const root = runs.find(({ name }) => name === 'answer');
        const read = await client.readRun(root!.id, { loadChildRuns: true });
        expect(read.outputs).toEqual({ outputs: 42 });
        expect(read.child_runs).toMatchObject([{ name: 'double' }]);
      });
    });

    it('adds feedback to a trace and reads it', async () => {
      const project_name = randomUUID();
      const id = randomUUID();
      await client.createRun({ id, name: 'one', run_type: 'chain', inputs: {}, project_name });
      await client.awaitPendingTraceBatches();
      await eventually(() => client.readRun(id));
      await client.createFeedback(id, 'helpful', { score: 1 });
      const feedback = await collect(client.listFeedback({ runIds: [id] }));
      expect(feedback).toMatchObject([{ key: 'helpful', score: 1 }]);
    });
  },
);
