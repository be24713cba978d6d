// Examples of requests. Sent to a fresh server of examples/agent, in the order of the document, they succeed once the ids that the
// server chooses are filled in.

const thread_id = '4f2b1c7e-9a3d-4c58-8f6e-2d1b7a905c34';
const run = {
  assistant_id: 'agent',
  input: { messages: [{ role: 'user', content: 'What is the weather in Oslo?' }] },
};
const cron = { ...run, schedule: '0 9 * * 1-5', timezone: 'Europe/Berlin' };
const project_id = 'c9a1e5d2-7b44-4f0a-9c83-5e6f12d0ab97';
const exported = {
  bulk_export_destination_id: '7d0c3b5a-1e2f-4a6b-8c9d-0e1f2a3b4c5d',
  session_id: project_id,
  start_time: '2026-11-01T00:00:00Z',
  end_time: '2026-12-01T00:00:00Z',
};
const price = {
  name: 'small',
  match_pattern: '^small-model$',
  prompt_cost: '0.000001',
  completion_cost: '0.000004',
};

/** Values of parameters, by name, or by route and name. */
export const parameterExamples: Readonly<Record<string, string | readonly string[]>> = {
  assistant_id: 'agent',
  thread_id,
  'getItem.key': 'profile',
  'getItem.namespace': ['users', 'ada'],
};

/** Bodies, by the name of the route. */
export const bodyExamples: Readonly<Record<string, unknown>> = {
  createAssistant: { graph_id: 'agent', name: 'terse', config: { configurable: { style: 'terse' } } },
  searchAssistants: { graph_id: 'agent', limit: 10 },
  countAssistants: { graph_id: 'agent' },
  updateAssistant: { name: 'shorter' },
  listAssistantVersions: { limit: 10 },
  setLatestAssistant: { version: 1 },
  createThread: { thread_id, if_exists: 'do_nothing', metadata: { graph_id: 'agent', customer: 42 } },
  searchThreads: { metadata: { customer: 42 }, status: 'idle', limit: 10 },
  countThreads: { status: 'idle' },
  patchThread: { metadata: { topic: 'weather' } },
  pruneThreads: { thread_ids: [thread_id], strategy: 'keep_latest' },
  getThreadStateAtCheckpoint: { checkpoint: { checkpoint_ns: '' } },
  updateThreadState: { values: { messages: [{ role: 'user', content: 'Hello' }] } },
  patchThreadState: { metadata: { reviewed: true } },
  searchThreadHistory: { limit: 10 },
  createConsoleSession: { key: 'an API key, or the key of a workspace' },
  sendThreadCommand: {
    id: 1,
    method: 'run.start',
    params: { assistant_id: run.assistant_id, input: run.input },
  },
  streamThreadEvents: { channels: ['values', 'messages', 'lifecycle', 'input'] },
  createRunBatch: [run],
  getRunFigures: { graph_id: 'agent', interval_seconds: 60 },
  searchRuns: { status: ['error', 'timeout'], graph_id: 'agent', limit: 10 },
  searchWebhookDeliveries: { status: ['pending', 'failed'], limit: 10 },
  cancelRuns: { status: 'pending' },
  streamStatelessRun: { ...run, stream_mode: ['updates'] },
  waitStatelessRun: run,
  createStatelessRun: run,
  streamRun: { ...run, stream_mode: ['updates'] },
  waitRun: run,
  createRun: { ...run, multitask_strategy: 'enqueue' },
  sendRunInput: { input: run.input },
  createCron: cron,
  createThreadCron: cron,
  createJob: { kind: 'cancel_runs', filter: { graph_id: 'agent' } },
  searchCrons: { assistant_id: 'agent', limit: 10 },
  countCrons: { assistant_id: 'agent' },
  updateCron: { enabled: false },
  putItem: { namespace: ['users', 'ada'], key: 'profile', value: { likes: 'mathematics' } },
  deleteItem: { namespace: ['users', 'ada'], key: 'profile' },
  callAgent: {
    jsonrpc: '2.0',
    id: 1,
    method: 'SendMessage',
    params: {
      message: { messageId: '1', role: 'ROLE_USER', parts: [{ text: 'What is the weather in Oslo?' }] },
    },
  },
  getUi: { name: 'weather' },
  callMcp: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
  searchItems: { namespace_prefix: ['users'], limit: 10 },
  listNamespaces: { prefix: ['users'] },
  createWorkspace: { display_name: 'Staging' },
  createKey: { description: 'collector', role: 'ingest' },
  createProject: { id: project_id, name: 'shop' },
  changeProject: { description: 'Traces of the shop' },
  getRunStats: { is_root: true },
  getRunStatsSeries: { is_root: true, interval_seconds: 60 },
  queryTraceRuns: { filter: 'eq(run_type, "llm")', limit: 10 },
  querySelectedRuns: { project_ids: [project_id], selects: ['NAME', 'STATUS', 'TOTAL_TOKENS'] },
  queryTraces: { project_id, selects: ['NAME', 'TOTAL_TOKENS'] },
  queryTraceThreads: { project_id, page_size: 10 },
  getThreadAggregates: { project_id, select: ['THREAD_COUNT', 'TOTAL_TOKENS'] },
  groupRuns: { session_id: project_id, group_by: 'conversation', limit: 10 },
  createFeedback: { run_id: '0e4d7c55-3f0b-4a2c-9a59-6b8f1c2d3e4f', key: 'helpful', score: 1 },
  changeFeedback: { score: 0.5, comment: 'Only partly' },
  createFeedbackToken: {
    run_id: '0e4d7c55-3f0b-4a2c-9a59-6b8f1c2d3e4f',
    feedback_key: 'helpful',
    expires_in: { hours: 1 },
  },
  useFeedbackToken: { score: 1, comment: 'Thank you' },
  createModelPrice: price,
  replaceModelPrice: { ...price, prompt_cost: '0.000002' },
  createDestination: { destination_type: 'file', display_name: 'local', config: { path: 'exports' } },
  changeDestination: { credentials: { access_key_id: 'AKIA0000', secret_access_key: 'secret' } },
  createExport: exported,
  validateExport: exported,
  changeExport: { status: 'Cancelled' },
};
