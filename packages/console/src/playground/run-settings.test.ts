import { expect, it } from 'vitest';
import { noSettings, readSettings } from './run-settings.ts';

it('settings become options of a run; empty ones are not sent', () => {
  expect(readSettings(noSettings)).toEqual({ options: {} });
  expect(
    readSettings({ configurable: '{ "user": 7 }', context: '[1]', stopBefore: ' tools,, review ' }),
  ).toEqual({
    options: { config: { configurable: { user: 7 } }, context: [1], interrupt_before: ['tools', 'review'] },
  });
});

it('settings with an integer that the browser rounds are not sent', () => {
  const text = '{ "user": 9007199254740993 }';
  const rounded = '9007199254740993 would be rounded: write it as a text.';
  expect(readSettings({ ...noSettings, configurable: text })).toEqual({
    problem: `Configurable: ${rounded}`,
  });
  expect(readSettings({ ...noSettings, context: text })).toEqual({ problem: `Context: ${rounded}` });
});
