import { expect, it } from 'vitest';
import { chatInput } from '../chat-input.ts';
import { expectSilence, quietSettings } from './quiet-server.ts';

it.each(quietSettings)('nothing is sent about runs %s', async (_, settings) => {
  await expectSilence(settings, 'started', async (server) => {
    const run = { assistant_id: 'chat', input: chatInput('x') };
    expect((await server.call('POST', '/runs/wait', run)).status).toBe(200);
  });
});
