import { expect, it } from 'vitest';
import { answeredInterrupts } from './interrupt-ids.ts';

const [a, b] = ['a'.repeat(32), 'b'.repeat(32)];
const waitingAt = (...ids: string[]): string =>
  JSON.stringify(Object.fromEntries(ids.map((id, at) => [`task${at}`, [{ id, value: 'why?' }]])));

const answered = (kwargs: object, { found = [a, b], left = [] as string[] } = {}): string[] =>
  answeredInterrupts({
    kwargs: JSON.stringify(kwargs),
    found_interrupts: waitingAt(...found),
    left_interrupts: waitingAt(...left),
  });

it.each([
  ['those that its value names', { command: { resume: { [b]: 1 } } }, [b]],
  ['none that did not wait', { command: { resume: { ['c'.repeat(32)]: 1 } } }, []],
  ['all with a text', { command: { resume: 'yes' } }, [a, b]],
  ['all with an object of other keys', { command: { resume: { approved: true } } }, [a, b]],
  ['none with a value that the engine ignores', { command: { resume: null } }, []],
  ['none with another command', { command: { goto: 'act' } }, []],
  ['none with an input', { input: { log: [] } }, []],
])('a run answers %s', (_, kwargs, ids) => expect(answered(kwargs)).toEqual(ids));

it('an interrupt at which the thread waits after the run is not answered', () =>
  expect(answered({ command: { resume: 'yes' } }, { left: [b] })).toEqual([a]));
