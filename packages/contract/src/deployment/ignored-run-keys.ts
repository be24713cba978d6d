// Keys that stock clients send with runs and that the server does not use, with the reason.

/** Sent by stock clients with every run. */
const ignoredInRuns = {
  strict_resume: 'The server does not announce this feature.',
};
export const ignoredOnThreads = { ...ignoredInRuns, on_completion: 'The thread of the run stays.' };
const needsThread = 'A stateless run has no other runs and no checkpoints.';
export const ignoredWithoutThread = {
  ...ignoredInRuns,
  checkpoint: needsThread,
  checkpoint_id: needsThread,
  if_not_exists: needsThread,
  multitask_strategy: needsThread,
};
const unconverted =
  'Stock JavaScript clients send the options of a batch also under names that the API does not have.';
/** `createBatch` of stock JavaScript clients sends the options as they were passed to it. */
export const ignoredInBatch = Object.fromEntries([
  ...Object.entries(ignoredWithoutThread),
  ...[
    'assistantId',
    'afterSeconds',
    'checkpointDuring',
    'checkpointId',
    'feedbackKeys',
    'ifNotExists',
    'interruptAfter',
    'interruptBefore',
    'multitaskStrategy',
    'onCompletion',
    'onDisconnect',
    'signal',
    'streamIdleReconnect',
    'streamMode',
    'streamResumable',
    'streamSubgraphs',
    '_langsmithTracer',
  ].map((key) => [key, unconverted] as const),
]);
export const ignoredInStreams = { namespace: 'Streams have the events of all subgraphs, or of none.' };
export const ignoredInJoins = {
  ...ignoredInStreams,
  checkpoint_id: 'The stream has the whole run, also what the client shows already.',
};
