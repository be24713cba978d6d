// A graph whose module loads once a file exists.
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';

const file = process.env['SLOW_GRAPH_FILE'] ?? '';
while (!existsSync(file)) await sleep(10);

export const graph = new StateGraph(MessagesAnnotation)
  .addNode('reply', () => ({ messages: [{ role: 'assistant', content: 'here' }] }))
  .addEdge(START, 'reply')
  .compile();
