// The address of a running server, and requests to it.
import * as undici from 'undici';
import { loadSettings } from '../config/config.ts';
import { processEnvironment } from '../config/environment.ts';
import { announcedIn } from '../http/server/address-file.ts';
import { ServerUnreachable, UsageError } from './output/exit-code.ts';
import { type FlagValues, toSources } from './flags.ts';

export interface ServerAddress {
  url: string;
  /** It is the address that the server of this configuration wrote to its data folder. */
  isAnnounced: boolean;
}

/** The address of `--url`, else of SVC_API_URL, else that in the data folder, else the configured port of this machine. */
export function addressOf(values: FlagValues): ServerAddress {
  const named = typeof values['url'] === 'string' ? values['url'] : processEnvironment()['SVC_API_URL'];
  if (named !== undefined && named !== '') return { url: checked(named), isAnnounced: false };
  const { storage, http } = loadSettings(toSources(values)).settings;
  const announced = announcedIn(storage.dataDir);
  return { url: checked(announced ?? `http://127.0.0.1:${http.port}`), isAnnounced: announced !== undefined };
}

function checked(text: string): string {
  const url = text.replace(/\/+$/, '').replace(/\/api\/v1$/, '');
  if (/^https?:\/\/[^/]/.test(url) && URL.canParse(url)) return url;
  throw mistake('--url', url, 'Give the address of a server, such as http://127.0.0.1:2024.');
}

/** A fetch that throws ServerUnreachable without a connection. The one of Node 20 never settles when the server closes it too early. */
export function fetchFrom(url: string): typeof fetch {
  const request = undici.fetch as unknown as typeof fetch;
  return async (input, init) => {
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
}

/** A mistake in the command line. */
export function mistake(where: string, value: string | undefined, remedy: string): UsageError {
  const problem = value === undefined ? 'is missing' : 'is not valid';
  return new UsageError({
    where,
    problem,
    remedy,
    ...(value === undefined ? {} : { value: JSON.stringify(value) }),
  });
}

/** Replaces control characters, which could move the cursor of a terminal. */
export function printable(text: string): string {
  return text.replaceAll(/\p{C}/gu, '?');
}
