import { fileURLToPath } from 'node:url';
import type { ConfigSources } from '../src/config/config.ts';

/** The arguments of Node.js for a server process with the limits, from the sources. */
export const limitedServer = (given: Pick<ConfigSources, 'flags' | 'configPath' | 'limits'>): string[] => [
  '--import',
  import.meta.resolve('tsx'),
  fileURLToPath(new URL('limited-server.ts', import.meta.url)),
  JSON.stringify(given),
];
