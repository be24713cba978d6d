type Call = [method: string, params: (of: { id: string; contextId: string }) => object];

/** Every method of A2A that names a task or a context. `agentMessage`: a message without them. */
export const taskCalls = (agentMessage: object): Call[] => [
  ['tasks/get', ({ id }) => ({ id })],
  ['GetTask', ({ id, contextId }) => ({ id: `${contextId}:${id}` })],
  ['tasks/cancel', ({ id }) => ({ id })],
  ['CancelTask', ({ id }) => ({ id })],
  ['tasks/resubscribe', ({ id }) => ({ id })],
  ['SubscribeToTask', ({ id }) => ({ id })],
  ['ListTasks', ({ contextId }) => ({ contextId })],
  ['message/send', ({ id }) => ({ message: { ...agentMessage, taskId: id } })],
  ['message/stream', ({ id, contextId }) => ({ message: { ...agentMessage, taskId: id, contextId } })],
];
