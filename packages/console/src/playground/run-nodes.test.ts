import type { RunTimeline } from '@svc/sdk';
import { expect, it } from 'vitest';
import { nodesOfTimeline, withWaiting } from './run-nodes.ts';

const at = (ms: number): string => new Date(ms).toISOString();

const step = (fromMs: number, nodes: string[], source = 'loop'): RunTimeline['steps'][number] => ({
  checkpoint_id: String(fromMs),
  step: 0,
  source,
  nodes,
  from: at(fromMs),
  to: at(fromMs + 10),
});

const nodesOf = (timeline: Partial<RunTimeline>) => {
  const nodes = nodesOfTimeline({ status: 'success', steps: [], executing: [], ...timeline });
  return Object.fromEntries(
    [...nodes].map(([name, { state, visits, tookMs }]) => [name, [state, visits, tookMs]]),
  );
};

it('nodes of the steps are done, with the number of their visits', () => {
  const steps = [
    step(0, ['__start__'], 'input'),
    step(10, ['agent']),
    step(20, ['tools']),
    step(30, ['agent']),
  ];
  expect(nodesOf({ steps })).toEqual({ agent: ['done', 2, 10], tools: ['done', 1, 10] });
});

it('the time of nodes that were executed together is unknown', () => {
  expect(nodesOf({ steps: [step(0, ['a', 'b'])] })).toEqual({
    a: ['done', 1, undefined],
    b: ['done', 1, undefined],
  });
});

it('the nodes in which a run has stopped have failed, or were cancelled', () => {
  const stopped = { steps: [step(0, ['agent'])], executing: ['tools'] };
  expect(nodesOf({ ...stopped, status: 'error' })).toMatchObject({ tools: ['error', 1, undefined] });
  expect(nodesOf({ ...stopped, status: 'interrupted' })).toMatchObject({
    tools: ['interrupted', 1, undefined],
  });
});

it('a state that a person has written executes no node', () => {
  expect(nodesOf({ steps: [step(0, ['agent'], 'update')] })).toEqual({});
});

it('a node that asks is on its next visit', () => {
  const nodes = nodesOfTimeline({ status: 'success', steps: [step(0, ['review'])], executing: [] });
  const waiting = withWaiting(nodes, ['review']);
  expect(waiting.get('review')).toMatchObject({ state: 'interrupted', visits: 2 });
  expect(withWaiting(waiting, ['review']).get('review')).toMatchObject({ visits: 2 });
});
