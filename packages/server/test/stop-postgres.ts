// Ends a PostgreSQL that outlives the process that started it.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** kill -9 for the server that uses this data folder, if it runs. */
export const stopPostgres = async (data: string): Promise<void> => {
  const pid = Number((await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')[0]);
  if (!pid) return;
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  // The pid may belong to another process by now; without /proc the server is left running instead of killing a wrong process.
  if (command.includes('postgres')) process.kill(pid, 'SIGKILL');
};
