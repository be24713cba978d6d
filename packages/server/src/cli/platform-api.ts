// Connects commands to the platform API of a running server.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPlatformClient, type PlatformClient } from '@svc/sdk';
import { loadSettings } from '../config/config.ts';
import { processEnvironment } from '../config/environment.ts';
import { type FlagValues, toSources } from './flags.ts';
import { addressOf, fetchFrom, mistake } from './server-address.ts';

export interface PlatformApi {
  client: PlatformClient;
  url: string;
}

/**
 * Flags override variables. By default the server of this configuration is used: the address that it wrote to its data folder, or
 * its port on this machine, and the key of its first start.
 */
export function connect(values: FlagValues): PlatformApi {
  const env = processEnvironment();
  const given = (flag: string, variable: string): string | undefined =>
    typeof values[flag] === 'string' ? values[flag] : env[variable] || undefined;
  const { url, isAnnounced } = addressOf(values);
  const apiKey = given('apiKey', 'SVC_PLATFORM_API_KEY') ?? localKey(url, values, isAnnounced);
  const workspaceId = given('workspace', 'SVC_WORKSPACE_ID');
  const workspace = workspaceId === undefined ? {} : { workspaceId };
  return { url, client: createPlatformClient({ apiUrl: url, apiKey, fetch: fetchFrom(url), ...workspace }) };
}

/** The admin key of the data folder. It is sent to the server of the folder and to this machine only. */
const localKey = (url: string, values: FlagValues, isOwn: boolean): string => {
  const isLocal = ['127.0.0.1', '[::1]', 'localhost'].includes(new URL(url).hostname);
  const file =
    isOwn || isLocal
      ? join(loadSettings(toSources(values)).settings.storage.dataDir, 'admin-key')
      : undefined;
  try {
    if (file !== undefined) return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const found = file === undefined ? '' : ` (${file} does not exist)`;
  throw mistake(
    'SVC_PLATFORM_API_KEY',
    undefined,
    `Set it to a key of the platform${found}: svc keys create --role admin.`,
  );
};

export const isId = (text: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
