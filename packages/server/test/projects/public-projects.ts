// Projects as public repositories have them: the layouts, configurations and imports of the templates of LangGraph.js. Their models
// reply from a list, so that a test needs no network.

interface PublicProject {
  /** Files of the repository, by path; values that are no text are written as JSON. */
  files: Record<string, unknown>;
  /** The folder in which its README starts the server. */
  cwd?: string;
  /** Links to folders of the repository, as package managers make them for workspaces. */
  links?: Record<string, string>;
  graphs: string[];
  /** A run of the first graph: its input, and a text in its result. */
  run: { input: unknown; result: RegExp };
  /** Headers of a client. */
  headers?: Record<string, string>;
  /** A path of its own, and the text that it returns. */
  page?: [path: string, text: string];
}

const packageJson = (name: string): object => ({
  name,
  version: '0.0.1',
  type: 'module',
  scripts: { build: 'tsc', clean: 'rm -rf dist' },
  dependencies: { '@langchain/core': '*', '@langchain/langgraph': '*' },
});

const tsconfig = {
  compilerOptions: {
    target: 'ES2021',
    lib: ['ES2023'],
    module: 'NodeNext',
    moduleResolution: 'nodenext',
    esModuleInterop: true,
    strict: true,
    outDir: 'dist',
    types: ['node'],
  },
  include: ['**/*.ts', '**/*.js'],
  exclude: ['node_modules', 'dist'],
};

const langgraphJson = (graphs: Record<string, string>, more: object = {}): object => ({
  node_version: '20',
  dockerfile_lines: [],
  dependencies: ['.'],
  graphs,
  env: '.env',
  ...more,
});

/** `loadChatModel` of the templates, with a model that calls a tool first, unless it has no tool. */
const utils = (reply: string, tool?: { name: string; args: object }): string => `
import { AIMessage, type BaseMessage } from '@langchain/core/messages';
import { FakeListChatModel } from '@langchain/core/utils/testing';

export async function loadChatModel(_fullySpecifiedName: string) {
  const model = new FakeListChatModel({ responses: [${JSON.stringify(reply)}] });
  const call = ${JSON.stringify(tool ?? null)};
  return {
    bindTools: () => ({
      invoke: async (messages: BaseMessage[]): Promise<AIMessage> =>
        call === null || messages.at(-1)?.getType() === 'tool'
          ? new AIMessage((await model.invoke(messages)).content as string)
          : new AIMessage({ content: '', tool_calls: [{ id: 'call_1', type: 'tool_call', ...call }] }),
    }),
    invoke: (messages: BaseMessage[]) => model.invoke(messages),
  };
}
`;

const configuration = `
import { Annotation } from '@langchain/langgraph';
import type { RunnableConfig } from '@langchain/core/runnables';

export const ConfigurationSchema = Annotation.Root({
  /** The system prompt to be used by the agent. */
  systemPromptTemplate: Annotation<string>,
  model: Annotation<string>,
});

export function ensureConfiguration(config: RunnableConfig): typeof ConfigurationSchema.State {
  const configurable = config.configurable ?? {};
  return {
    systemPromptTemplate: configurable.systemPromptTemplate ?? 'You are a helpful AI assistant.',
    model: configurable.model ?? 'claude-3-7-sonnet-latest',
  };
}
`;

const chat = { messages: [{ role: 'user', content: 'Hello' }] };

const agentGraph = (tools = './tools.js'): string => `
import { AIMessage } from '@langchain/core/messages';
import type { RunnableConfig } from '@langchain/core/runnables';
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { ConfigurationSchema, ensureConfiguration } from './configuration.js';
import { TOOLS } from '${tools}';
import { loadChatModel } from './utils.js';

async function callModel(
  state: typeof MessagesAnnotation.State,
  config: RunnableConfig,
): Promise<typeof MessagesAnnotation.Update> {
  const configuration = ensureConfiguration(config);
  const model = (await loadChatModel(configuration.model)).bindTools(TOOLS);
  return { messages: [await model.invoke(state.messages)] };
}

function routeModelOutput(state: typeof MessagesAnnotation.State): string {
  const lastMessage = state.messages[state.messages.length - 1];
  return ((lastMessage as AIMessage)?.tool_calls?.length ?? 0) > 0 ? 'tools' : '__end__';
}

const workflow = new StateGraph(MessagesAnnotation, ConfigurationSchema)
  .addNode('callModel', callModel)
  .addNode('tools', new ToolNode(TOOLS))
  .addEdge('__start__', 'callModel')
  .addConditionalEdges('callModel', routeModelOutput)
  .addEdge('tools', 'callModel');

export const graph = workflow.compile({ interruptBefore: [], interruptAfter: [] });
`;

const searchTool = `
import { tool } from '@langchain/core/tools';
import { z } from 'zod';

const search = tool(async ({ query }) => 'found ' + query, {
  name: 'search',
  description: 'Searches the web.',
  schema: z.object({ query: z.string() }),
});
export const TOOLS = [search];
`;

const simpleGraph = (content: string, head = ''): string => `
import { AIMessage, type BaseMessage } from '@langchain/core/messages';
import { Annotation, messagesStateReducer, StateGraph } from '@langchain/langgraph';
${head}
export const StateAnnotation = Annotation.Root({
  messages: Annotation<BaseMessage[]>({ reducer: messagesStateReducer, default: () => [] }),
});
const builder = new StateGraph(StateAnnotation)
  .addNode('callModel', async () => ({ messages: [new AIMessage(${content})] }))
  .addEdge('__start__', 'callModel');
export const graph = builder.compile();
graph.name = 'New Agent';
`;

const search = { name: 'search', args: { query: 'news' } };

export const publicProjects: Record<string, PublicProject> = {
  'react-agent-js': {
    files: {
      'package.json': packageJson('react-agent'),
      'tsconfig.json': tsconfig,
      'langgraph.json': langgraphJson({ agent: './src/react_agent/graph.ts:graph' }),
      '.env': 'TAVILY_API_KEY=\n',
      'src/react_agent/configuration.ts': configuration,
      'src/react_agent/tools.ts': searchTool,
      'src/react_agent/utils.ts': utils('Here is the news.', search),
      'src/react_agent/graph.ts': agentGraph(),
    },
    graphs: ['agent'],
    run: { input: chat, result: /found news.*Here is the news\./s },
  },
  'new-langgraphjs-project': {
    files: {
      'package.json': packageJson('example-graph'),
      'tsconfig.json': tsconfig,
      'langgraph.json': langgraphJson({ agent: './src/agent/graph.ts:graph' }),
      '.env': '',
      'src/agent/graph.ts': simpleGraph(`'Hi there! This is a graph.'`),
    },
    graphs: ['agent'],
    run: { input: chat, result: /Hi there!/ },
  },
  'memory-agent-js': {
    files: {
      'package.json': packageJson('memory-agent'),
      'tsconfig.json': tsconfig,
      'langgraph.json': langgraphJson({ agent: './src/memory_agent/graph.ts:graph' }),
      '.env': '',
      'src/memory_agent/graph.ts': `
import { AIMessage } from '@langchain/core/messages';
import { type LangGraphRunnableConfig, MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { v4 as uuidv4 } from './uuid.js';

const getStoreFromConfigOrThrow = (config: LangGraphRunnableConfig) => {
  if (!config.store) throw new Error('Store not found in configuration');
  return config.store;
};
async function storeMemory(_: typeof MessagesAnnotation.State, config: LangGraphRunnableConfig) {
  const store = getStoreFromConfigOrThrow(config);
  const namespace = ['memories', config.configurable?.userId ?? 'default'];
  await store.put(namespace, uuidv4(), { content: 'likes tea' });
  const memories = await store.search(namespace, { limit: 10 });
  return { messages: [new AIMessage(memories.map((one) => 'You ' + one.value.content).join(' '))] };
}
export const graph = new StateGraph(MessagesAnnotation)
  .addNode('store_memory', storeMemory)
  .addEdge('__start__', 'store_memory')
  .compile();
graph.name = 'MemoryAgent';
`,
      'src/memory_agent/uuid.ts': `export const v4 = () => crypto.randomUUID();`,
    },
    graphs: ['agent'],
    run: { input: chat, result: /You likes tea/ },
  },
  'retrieval-agent': {
    files: {
      'package.json': packageJson('retrieval-graph'),
      'tsconfig.json': tsconfig,
      'langgraph.json': langgraphJson({
        retrieval_graph: './src/retrieval_graph/graph.ts:graph',
        indexer: './src/retrieval_graph/index_graph.ts:graph',
      }),
      '.env': '',
      'src/retrieval_graph/state.ts': `
import { Document } from '@langchain/core/documents';
import { Annotation, MessagesAnnotation } from '@langchain/langgraph';
export const IndexStateAnnotation = Annotation.Root({ docs: Annotation<Document[]>() });
export const InputStateAnnotation = Annotation.Root({ ...MessagesAnnotation.spec });
export const StateAnnotation = Annotation.Root({
  ...MessagesAnnotation.spec,
  queries: Annotation<string[]>({ default: () => [], reducer: (all, more) => [...all, ...more] }),
  retrievedDocs: Annotation<Document[]>(),
});
`,
      'src/retrieval_graph/index_graph.ts': `
import { StateGraph } from '@langchain/langgraph';
import { IndexStateAnnotation } from './state.js';
export const graph = new StateGraph(IndexStateAnnotation)
  .addNode('indexDocs', async () => ({ docs: [] }))
  .addEdge('__start__', 'indexDocs')
  .compile();
`,
      'src/retrieval_graph/graph.ts': `
import { Document } from '@langchain/core/documents';
import { AIMessage } from '@langchain/core/messages';
import { StateGraph } from '@langchain/langgraph';
import { InputStateAnnotation, StateAnnotation } from './state.js';
const builder = new StateGraph({ stateSchema: StateAnnotation, input: InputStateAnnotation })
  .addNode('generateQuery', async () => ({ queries: ['tea'] }))
  .addNode('retrieve', async (state: typeof StateAnnotation.State) => ({
    retrievedDocs: state.queries.map((pageContent) => new Document({ pageContent: pageContent + ' is hot' })),
  }))
  .addNode('respond', async (state: typeof StateAnnotation.State) => ({
    messages: [new AIMessage(state.retrievedDocs.map((doc) => doc.pageContent).join())],
  }))
  .addEdge('__start__', 'generateQuery')
  .addEdge('generateQuery', 'retrieve')
  .addEdge('retrieve', 'respond');
export const graph = builder.compile();
graph.name = 'Retrieval Graph';
`,
    },
    graphs: ['retrieval_graph', 'indexer'],
    run: { input: chat, result: /tea is hot/ },
  },
  'data-enrichment-js': {
    files: {
      'package.json': packageJson('data-enrichment'),
      'tsconfig.json': tsconfig,
      'langgraph.json': langgraphJson({ agent: './src/enrichment_agent/graph.ts:graph' }),
      '.env': '',
      'src/enrichment_agent/graph.ts': `
import { Annotation, StateGraph } from '@langchain/langgraph';
import type { RunnableConfig } from '@langchain/core/runnables';
type AnyRecord = Record<string, unknown>;
export const InputStateAnnotation = Annotation.Root({
  topic: Annotation<string>,
  extractionSchema: Annotation<AnyRecord>,
  info: Annotation<AnyRecord>,
});
export const StateAnnotation = Annotation.Root({
  ...InputStateAnnotation.spec,
  loopStep: Annotation<number>({ reducer: (left, right) => left + right, default: () => 0 }),
});
const callAgentModel = async (state: typeof StateAnnotation.State, _config: RunnableConfig) => ({
  info: Object.fromEntries(Object.keys(state.extractionSchema).map((key) => [key, state.topic + ' ' + key])),
  loopStep: 1,
});
export const graph = new StateGraph({
  stateSchema: StateAnnotation,
  input: InputStateAnnotation,
  output: Annotation.Root({ info: Annotation<AnyRecord> }),
})
  .addNode('callAgentModel', callAgentModel)
  .addEdge('__start__', 'callAgentModel')
  .compile();
graph.name = 'ResearchTopic';
`,
    },
    graphs: ['agent'],
    run: { input: { topic: 'tea', extractionSchema: { origin: 'string' } }, result: /tea origin/ },
  },
  'custom-auth': {
    files: {
      'package.json': packageJson('custom-auth'),
      'tsconfig.json': tsconfig,
      'langgraph.json': langgraphJson(
        { agent: './src/agent/graph.mts:graph' },
        { auth: { path: './src/security/auth.mts:auth' } },
      ),
      '.env': '',
      'src/agent/graph.mts': simpleGraph(`'Hello, user.'`),
      'src/security/auth.mts': `
import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';
const users: Record<string, { id: string }> = { 'user1-token': { id: 'user1' } };
export const auth = new Auth()
  .authenticate(async (request: Request) => {
    const token = request.headers.get('authorization')?.split(' ')[1];
    const user = token === undefined ? undefined : users[token];
    if (!user) throw new HTTPException(401, { message: 'Invalid token' });
    return { identity: user.id, permissions: [] };
  })
  .on('threads', ({ value, user }) => {
    if (value && 'metadata' in value) value.metadata = { ...value.metadata, owner: user.identity };
    return { owner: user.identity };
  });
`,
    },
    graphs: ['agent'],
    run: { input: chat, result: /Hello, user\./ },
    headers: { authorization: 'Bearer user1-token' },
  },
  'custom-routes': {
    files: {
      'package.json': packageJson('custom-routes'),
      'tsconfig.json': tsconfig,
      'langgraph.json': langgraphJson(
        { agent: './src/agent/graph.ts:graph' },
        { http: { app: './src/agent/webapp.ts:app' } },
      ),
      '.env': '',
      'src/agent/graph.ts': simpleGraph(`'Routed.'`),
      'src/agent/webapp.ts': `
import { Hono } from 'hono';
export const app = new Hono();
app.get('/hello', (c) => c.text('Hello, World!'));
`,
    },
    graphs: ['agent'],
    run: { input: chat, result: /Routed\./ },
    page: ['/hello', 'Hello, World!'],
  },
  monorepo: {
    files: {
      'package.json': { name: 'monorepo', private: true, workspaces: ['apps/*', 'libs/*'] },
      'turbo.json': { tasks: { build: {} } },
      'libs/shared/package.json': { name: '@acme/shared', type: 'module', main: 'src/index.ts' },
      'libs/shared/src/index.ts': `export const greeting = 'Shared greeting';`,
      'apps/agent/package.json': packageJson('agent'),
      'apps/agent/tsconfig.json': tsconfig,
      'apps/agent/langgraph.json': langgraphJson({ agent: './src/graph.ts:graph' }),
      'apps/agent/.env': '',
      'apps/agent/src/graph.ts': simpleGraph('greeting', `import { greeting } from '@acme/shared';`),
    },
    cwd: 'apps/agent',
    links: { 'apps/agent/node_modules/@acme/shared': 'libs/shared' },
    graphs: ['agent'],
    run: { input: chat, result: /Shared greeting/ },
  },
  'a clone without its .env': {
    files: {
      'package.json': packageJson('cloned'),
      'tsconfig.json': tsconfig,
      'langgraph.json': langgraphJson({ agent: './src/agent/graph.ts:graph' }),
      '.env.example': 'OPENAI_API_KEY=\n',
      'src/agent/graph.ts': simpleGraph(`'No environment.'`),
    },
    graphs: ['agent'],
    run: { input: chat, result: /No environment\./ },
  },
  'path aliases': {
    files: {
      'package.json': packageJson('aliases'),
      'tsconfig.json': {
        compilerOptions: { ...tsconfig.compilerOptions, baseUrl: '.', paths: { '@/*': ['./src/*'] } },
      },
      'langgraph.json': langgraphJson({ agent: './src/graph.ts:graph' }),
      '.env': '',
      'src/lib/reply.ts': `export const reply: string = 'Through an alias';`,
      'src/graph.ts': simpleGraph('reply', `import { reply } from '@/lib/reply';`),
    },
    graphs: ['agent'],
    run: { input: chat, result: /Through an alias/ },
  },
};
