// Random sequences of operations on deep agents have the same results on a server as on the engine alone. Here because `deepagents` needs its
// own version of `langsmith`.
import { createClient, type Client } from '@svc/sdk';
import { afterAll, beforeAll } from 'vitest';
import type { GraphCase } from '../../../server/test/engine-parity/sequences/cases.ts';
import { describeSequences } from '../../../server/test/engine-parity/sequences/describe-sequences.ts';
import { chatInput } from '../../../server/test/chat-input.ts';
import { researcher, Send, team } from '../../agents/deep-agents.ts';
import { type Deployment, openDeployment, tokens } from '../../deployment.ts';

let deployment: Deployment;
let client: Client;
beforeAll(async () => {
  deployment = await openDeployment();
  const { url } = await deployment.start({ config: '../agents/svc.json', tracing: 'off' });
  client = createClient({ apiUrl: url, apiKey: tokens.ann });
});
afterAll(() => deployment?.[Symbol.asyncDispose]());

const updates = [
  chatInput('updated'),
  { messages: [{ role: 'assistant', content: 'one' }] },
  chatInput('weather'),
];

const deepAgent = (graph: object, nodes: string[], inputs: string[]): GraphCase => ({
  graph,
  Send,
  inputs: inputs.map(chatInput),
  updates,
  nodes: ['FilesystemMiddleware.before_agent', 'model_request', 'tools', ...nodes],
  // No edits: the middleware changes the message of the model in place, and the engine alone reports it before or after that.
  answers: [
    { decisions: [{ type: 'approve' }] },
    { decisions: [{ type: 'reject', message: 'not now' }] },
    { decisions: [] },
    'yes',
  ],
});

const words = ['plain', 'weather', 'note', 'change', 'delegate'];

describeSequences(
  {
    researcher: deepAgent(researcher.graph, [], words),
    team: deepAgent(
      team.graph,
      ['HumanInTheLoopMiddleware.after_model'],
      [...words, 'letter', 'clerk', 'both'],
    ),
  },
  { client: () => client, usual: 40 },
);
