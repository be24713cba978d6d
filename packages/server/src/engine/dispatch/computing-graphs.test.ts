import { beforeEach, expect, it } from 'vitest';
import { ComputingGraphs } from './computing-graphs.ts';

let graphs: ComputingGraphs;
beforeEach(() => (graphs = new ComputingGraphs()));
const computing = () => ['parse', 'chat'].filter((graph_id) => graphs.has(graph_id));

it('are those with a run on an executor that becomes busy', () => {
  graphs.note('became_busy', ['parse']);
  expect(computing()).toEqual(['parse']);
});

it('do not include the graphs of runs that a busy executor receives', () => {
  graphs.note('became_busy', ['parse']);
  graphs.note(undefined, ['parse', 'chat']);
  expect(computing()).toEqual(['parse']);
});

it('are not those with runs on executors that are not busy, more often than not', () => {
  graphs.note('idles', ['chat']);
  graphs.note('became_busy', ['parse', 'chat']);
  expect(computing()).toEqual(['parse']);
  graphs.note('became_busy', ['parse', 'chat']);
  expect(computing()).toEqual(['parse', 'chat']);
  graphs.noteEnd('chat');
  expect(computing()).toEqual(['parse']);
});

it('are those that compute now: what was seen long ago counts less', () => {
  for (let count = 0; count < 10_000; count++) graphs.note('idles', ['parse']);
  for (let count = 0; count < 100; count++) graphs.note('became_busy', ['parse']);
  expect(computing()).toEqual(['parse']);
});
