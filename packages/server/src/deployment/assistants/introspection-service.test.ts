import { Problem } from '@svc/contract/problem';
import { describe, expect, it } from 'vitest';
import type { IntrospectCommand } from '../../engine/dispatch/protocol.ts';
import type { AssistantRow } from '../../storage/deployment/assistants/assistant-rows.ts';
import { IntrospectionService } from './introspection-service.ts';

const assistant: AssistantRow = {
  assistant_id: 'fe096781-5601-53d2-b2f6-0d3403f7e9ca',
  graph_id: 'agent',
  name: 'agent',
  description: null,
  config: {},
  context: {},
  metadata: {},
  version: 1,
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
};

/** An executor that counts its commands; `answer` returns the result of each. */
const counting = (answer: (count: number, command: IntrospectCommand) => Promise<unknown>) => {
  const commands: IntrospectCommand[] = [];
  const service = new IntrospectionService({
    introspect: (command) => answer(commands.push(command), command),
  });
  return { commands, service };
};

describe('the cached schemas of a graph', () => {
  it('are requested once per query and version', async () => {
    const { commands, service } = counting((count) => Promise.resolve(count));
    const schemas = { what: 'schemas' } as const;
    expect(await Promise.all([service.ask(assistant, schemas), service.ask(assistant, schemas)])).toEqual([
      1, 1,
    ]);
    expect(await service.ask(assistant, { what: 'graph', xray: 1 })).toBe(2);
    expect(await service.ask(assistant, { what: 'graph', xray: 2 })).toBe(3);
    expect(await service.ask({ ...assistant, version: 2 }, schemas)).toBe(4);
    expect(commands.map(({ what }) => what)).toEqual(['schemas', 'graph', 'graph', 'schemas']);
  });

  it('are not those of an earlier assistant with the same id', async () => {
    const { service } = counting((_, { graph_id }) => Promise.resolve(graph_id));
    expect(await service.ask(assistant, { what: 'schemas' })).toBe('agent');
    const again = { ...assistant, graph_id: 'other', created_at: '2026-01-02T00:00:00Z' };
    expect(await service.ask(again, { what: 'schemas' })).toBe('other');
  });

  it('do not include failures, which are thrown unchanged', async () => {
    const broken = new Problem('invalid', 'Graph "agent" cannot be loaded');
    const { service } = counting((count) => (count === 1 ? Promise.reject(broken) : Promise.resolve(count)));
    await expect(service.ask(assistant, { what: 'schemas' })).rejects.toBe(broken);
    expect(await service.ask(assistant, { what: 'schemas' })).toBe(2);
  });

  it('are evicted, oldest first, above the limit', async () => {
    const { commands, service } = counting((count) => Promise.resolve(count));
    const ask = (n: number) => service.ask(assistant, { what: 'subgraphs', namespace: `n${n}` });
    for (let n = 0; n <= 200; n++) await ask(n);
    await ask(200);
    expect(commands).toHaveLength(201);
    await ask(0);
    expect(commands).toHaveLength(202);
  });
});
