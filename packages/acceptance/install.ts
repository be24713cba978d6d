// Installs the stock clients from their lock files.
import { join } from 'node:path';
import { installTools } from '../../scripts/tools-folder.ts';

for (const name of ['clients', 'agent-chat-ui', 'next']) installTools(join(import.meta.dirname, name));
