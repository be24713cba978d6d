import { check, checkStatus, get, getList, getText } from '../check.ts';
import type { AreaScenarios } from '../scenario.ts';
import { agentRun } from './agents.ts';

export const crons: AreaScenarios = {
  area: 'crons',
  absent: async (server) => {
    const { status } = await server.send('POST', '/runs/crons/search', { limit: 1 });
    return [404, 405, 500, 501].includes(status) ? 'the server has no crons' : undefined;
  },
  scenarios: {
    'a cron is created, found and deleted': async (server) => {
      const body = agentRun(server, { schedule: '0 0 1 1 *' });
      const cron_id = getText(await server.call('POST', '/runs/crons', body), 'cron_id');
      const isListed = async () => {
        const found = getList(await server.call('POST', '/runs/crons/search', { limit: 1000 }));
        return found.some((cron) => get(cron, 'cron_id') === cron_id);
      };
      try {
        check(await isListed(), 'the cron in a search');
      } finally {
        await server.call('DELETE', `/runs/crons/${cron_id}`);
      }
      check(!(await isListed()), 'no deleted cron in a search');
    },
    'a schedule that is not a cron expression gets 4xx': async (server) => {
      const answer = await server.send('POST', '/runs/crons', agentRun(server, { schedule: 'often' }));
      checkStatus(answer, 400, 422);
    },
  },
};
