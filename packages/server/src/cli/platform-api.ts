// Connects commands to the platform API of a running server.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as undici from 'undici';
import { createPlatformClient, type PlatformClient } from '@svc/sdk';
import { loadSettings } from '../config/config.ts';
import { processEnvironment } from '../config/environment.ts';
import { announcedIn } from '../http/server/address-file.ts';
import { ServerUnreachable, UsageError } from './output/exit-code.ts';
import { type FlagValues, toSources } from './flags.ts';

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
  const named = given('url', 'SVC_API_URL');
  const own = named === undefined ? ownUrl(values) : undefined;
  const url = (named ?? own ?? localUrl(values)).replace(/\/+$/, '').replace(/\/api\/v1$/, '');
  if (!/^https?:\/\/[^/]/.test(url) || !URL.canParse(url))
    throw mistake('--url', url, 'Give the address of a server, such as http://127.0.0.1:2024.');
  const apiKey = given('apiKey', 'SVC_PLATFORM_API_KEY') ?? localKey(url, values, own !== undefined);
  const workspaceId = given('workspace', 'SVC_WORKSPACE_ID');
  // The fetch of Node 20 never settles when the server closes the connection too early, and the command would end without a message.
  const request = undici.fetch as unknown as typeof fetch;
  const fetcher: typeof fetch = async (input, init) => {
    try {
      return await request(input, init);
    } catch (cause) {
      if (init?.signal?.aborted === true) throw cause;
      throw new ServerUnreachable(
        `The server at ${url} cannot be reached: start it, or name another with --url`,
        { cause },
      );
    }
  };
  const workspace = workspaceId === undefined ? {} : { workspaceId };
  return { url, client: createPlatformClient({ apiUrl: url, apiKey, fetch: fetcher, ...workspace }) };
}

const ownUrl = (values: FlagValues): string | undefined =>
  announcedIn(loadSettings(toSources(values)).settings.storage.dataDir);

const localUrl = (values: FlagValues): string =>
  `http://127.0.0.1:${loadSettings(toSources(values)).settings.http.port}`;

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

/** A mistake in the command line. */
export function mistake(where: string, value: string | undefined, remedy: string): UsageError {
  const problem = value === undefined ? 'is missing' : 'is not valid';
  return new UsageError([
    { where, problem, remedy, ...(value === undefined ? {} : { value: JSON.stringify(value) }) },
  ]);
}

/** Replaces control characters, which could move the cursor of a terminal. */
export function printable(text: string): string {
  return text.replaceAll(/\p{C}/gu, '?');
}

export const isId = (text: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
