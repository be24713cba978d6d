// Calls of every read method of the stock client, and of the other methods that the platform API supports.
import type { Client } from 'langsmith';

export interface Ids {
  run: string;
  project: string;
  thread: string;
  feedback: string;
  /** An id that nothing has. */
  none: string;
}

type Calls = Record<string, (client: Client, ids: Ids) => unknown>;

const day = '2026-11-20T00:00:00Z';

/** Methods of the class itself. */
export const clientCalls: Calls = {
  readRun: (client, { run }) => client.readRun(run, { loadChildRuns: true }),
  getRunUrl: (client, { run }) => client.getRunUrl({ runId: run }),
  listRuns: (client, { project }) => client.listRuns({ projectId: project }),
  listGroupRuns: (client, { project }) =>
    client.listGroupRuns({ projectId: project, groupBy: 'conversation' }),
  readThread: (client, { project, thread }) => client.readThread({ threadId: thread, projectId: project }),
  listThreads: (client, { project }) => client.listThreads({ projectId: project }),
  getRunStats: (client, { project }) => client.getRunStats({ projectIds: [project] }),
  createProject: (client) => client.createProject({ projectName: 'made', upsert: true }),
  readProject: (client, { project }) => client.readProject({ projectId: project, includeStats: true }),
  hasProject: (client) => client.hasProject({ projectName: 'made' }),
  getProjectUrl: (client, { project }) => client.getProjectUrl({ projectId: project }),
  listProjects: (client, { project }) => client.listProjects({ projectIds: [project], nameContains: 'r' }),
  updateProject: (client, { project }) => client.updateProject(project, { description: 'changed' }),
  deleteProject: (client) => client.deleteProject({ projectName: 'made' }),
  createFeedback: (client, { run, project }) =>
    client.createFeedback(run, 'made', { score: 1, sessionId: project }),
  readFeedback: (client, { feedback }) => client.readFeedback(feedback),
  listFeedback: (client, { run }) => client.listFeedback({ runIds: [run], feedbackKeys: ['kind'] }),
  updateFeedback: (client, { feedback }) => client.updateFeedback(feedback, { comment: 'changed' }),
  deleteFeedback: (client, { feedback }) => client.deleteFeedback(feedback),
  createPresignedFeedbackToken: (client, { run }) => client.createPresignedFeedbackToken(run, 'kind'),
  listPresignedFeedbackTokens: (client, { run }) => client.listPresignedFeedbackTokens(run),
  shareRun: (client, { run }) => client.shareRun(run),
  unshareRun: (client, { run }) => client.unshareRun(run),
  readRunSharedLink: (client, { run }) => client.readRunSharedLink(run),
  readDatasetSharedSchema: (client, { none }) => client.readDatasetSharedSchema(none),
  readSharedDataset: (client, { none }) => client.readSharedDataset(none),
  listSharedExamples: (client, { none }) => client.listSharedExamples(none),
  getDatasetUrl: (client, { none }) => client.getDatasetUrl({ datasetId: none }),
  readDataset: (client, { none }) => client.readDataset({ datasetId: none }),
  hasDataset: (client, { none }) => client.hasDataset({ datasetId: none }),
  diffDatasetVersions: (client, { none }) =>
    client.diffDatasetVersions({ datasetId: none, fromVersion: day, toVersion: day }),
  readDatasetOpenaiFinetuning: (client, { none }) => client.readDatasetOpenaiFinetuning({ datasetId: none }),
  listDatasets: (client) => client.listDatasets(),
  readExample: (client, { none }) => client.readExample(none),
  listExamples: (client, { none }) => client.listExamples({ datasetId: none }),
  readDatasetVersion: (client, { none }) => client.readDatasetVersion({ datasetId: none, tag: 'latest' }),
  listDatasetSplits: (client, { none }) => client.listDatasetSplits({ datasetId: none }),
  listFeedbackConfigs: (client) => client.listFeedbackConfigs(),
  listAnnotationQueues: (client) => client.listAnnotationQueues(),
  readAnnotationQueue: (client, { none }) => client.readAnnotationQueue(none),
  getRunFromAnnotationQueue: (client, { none }) => client.getRunFromAnnotationQueue(none, 0),
  listRunsFromAnnotationQueue: (client, { none }) => client.listRunsFromAnnotationQueue(none),
  getSizeFromAnnotationQueue: (client, { none }) => client.getSizeFromAnnotationQueue(none),
  promptExists: (client) => client.promptExists('-/prompt'),
  listCommits: (client) => client.listCommits('-/prompt'),
  listPrompts: (client) => client.listPrompts(),
  getPrompt: (client) => client.getPrompt('-/prompt'),
  pullPromptCommit: (client) => client.pullPromptCommit('-/prompt'),
  agentExists: (client) => client.agentExists('-/agent'),
  skillExists: (client) => client.skillExists('-/skill'),
  pullAgent: (client) => client.pullAgent('-/agent'),
  pullSkill: (client) => client.pullSkill('-/skill'),
  listAgents: (client) => client.listAgents(),
  listSkills: (client) => client.listSkills(),
};

/** Methods that send no read: those of the tracer, those that work without a request, and writes of unsupported objects. */
// clonePublicDataset needs a dataset first; listSharedRuns sends a malformed URL, the query without its question mark.
export const otherMethods = `
  getProfileManagedAuthorizationHeader isProfileManagedAuthorizationHeader hasExplicitAuthHeader
  applyCurrentAuthHeaders getHostUrl processInputs processOutputs processMetadata processError
  prepareRunCreateOrUpdateInputs drainAutoBatchQueue processRunOperation flush cleanup toString
  awaitPendingTraceBatches parseTokenOrUrl createRun batchIngestRuns multipartIngestRuns updateRun
  logEvaluationFeedback shareDataset unshareDataset uploadCsv createDataset updateDataset
  updateDatasetTag deleteDataset createExample createExamples createLLMExample createChatExample
  deleteExample deleteExamples updateExample updateExamples updateDatasetSplits
  createComparativeExperiment createFeedbackConfig updateFeedbackConfig addFeedbackCategories
  removeFeedbackCategories deleteFeedbackConfig createAnnotationQueue updateAnnotationQueue
  deleteAnnotationQueue addRunsToAnnotationQueue deleteRunFromAnnotationQueue likePrompt unlikePrompt
  createPrompt createCommit updateExamplesMultipart uploadExamplesMultipart updatePrompt deletePrompt
  pushPrompt pushAgent pushSkill deleteAgent deleteSkill
  clonePublicDataset listSharedRuns
`
  .trim()
  .split(/\s+/);

/** Methods of the resources `client.runs`, `client.threads` and so on that work. All others are called with any arguments. */
export const resourceCalls: Calls = {
  'runs.queryV2': (client, { project }) => client.runs.queryV2({ project_ids: [project] }),
  'runs.query': (client, { project }) => client.runs.query({ project_ids: [project] }),
  'runs.retrieveV2': (client, { run, project }) => client.runs.retrieveV2(run, { project_id: project }),
  'runs.retrieve': (client, { run, project }) => client.runs.retrieve(run, { project_id: project }),
  'runs.streaming.queryV2': (client, { project }) =>
    client.runs.streaming.queryV2({ project_ids: [project] }),
  'runs.streaming.queryV2Items': (client, { project }) =>
    client.runs.streaming.queryV2Items({ project_ids: [project] }),
  'threads.aggregateStats': (client, { project }) =>
    client.threads.aggregateStats({ project_id: project, select: ['THREAD_COUNT', 'LATENCY_P99'] }),
  'threads.listTraces': (client, { project, thread }) =>
    client.threads.listTraces(thread, { project_id: project }),
  'threads.query': (client, { project }) => client.threads.query({ project_id: project }),
  'threads.stats': (client, { project, thread }) =>
    client.threads.stats(thread, { session_id: project, selects: ['TURNS', 'LATENCY_P99'] }),
  'threads.streaming.query': (client, { project }) => client.threads.streaming.query({ project_id: project }),
  'threads.streaming.queryItems': (client, { project }) =>
    client.threads.streaming.queryItems({ project_id: project }),
  'traces.listRuns': (client, { run, project }) => client.traces.listRuns(run, { project_id: project }),
  'traces.query': (client, { project }) => client.traces.query({ project_id: project }),
  'traces.streaming.query': (client, { project }) => client.traces.streaming.query({ project_id: project }),
  'traces.streaming.queryItems': (client, { project }) =>
    client.traces.streaming.queryItems({ project_id: project }),
  'sessions.create': (client) => client.sessions.create({ name: 'again', upsert: true }),
  'sessions.retrieve': (client, { project }) => client.sessions.retrieve(project),
  'sessions.update': (client, { project }) => client.sessions.update(project, { description: 'again' }),
  'sessions.delete': async (client) => {
    const { id } = await client.sessions.create({ name: 'gone', upsert: true });
    await client.sessions.delete(id);
  },
  'sessions.listV2': (client) => client.sessions.listV2(),
  'sessions.resolve': (client) =>
    client.sessions.resolve({ kind: 'AGENT', id: 'support', environment: 'LOCAL' }),
};
