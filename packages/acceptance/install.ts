// Installs the stock clients, and the libraries of the projects that they call, from their lock files.
import { join } from 'node:path';
import { installTools } from '../../scripts/tools-folder.ts';

for (const name of ['clients', 'agents', 'hosts', 'agent-chat-ui', 'next'])
  installTools(join(import.meta.dirname, name));
