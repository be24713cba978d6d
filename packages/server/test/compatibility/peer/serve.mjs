// Serves a project with the open dev server: node --import tsx serve.mjs langgraph.json. Sends its URL to its parent.
import { readFileSync } from 'node:fs';
import { StartServerSchema, startServer } from '@langchain/langgraph-api/server';

const { graphs, auth, http } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const { host } = await startServer(
  StartServerSchema.parse({
    port: 0,
    host: '127.0.0.1',
    nWorkers: 10,
    cwd: process.cwd(),
    graphs,
    auth,
    http,
  }),
);
process.send({ url: `http://${host}` });
