import type { Scenario } from '../scenario.ts';

export const schemas: Scenario = {
  name: 'schemas',
  async run(wire) {
    for (const graph of ['annotated', 'described'])
      await wire.call(graph, 'GET', `/assistants/${graph}/schemas`);
  },
};
