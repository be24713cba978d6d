// A program like `svc start`, with limits that no setting changes. Its argument is JSON.
import { start } from '../src/cli/commands/start.ts';
import type { ConfigSources } from '../src/config/config.ts';
import { processEnvironment } from '../src/config/environment.ts';

const given = JSON.parse(process.argv[2] ?? '') as Pick<ConfigSources, 'flags' | 'configPath' | 'limits'>;
await start({ cwd: process.cwd(), env: processEnvironment(), ...given });
