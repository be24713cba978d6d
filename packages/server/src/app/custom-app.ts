// Wiring of the project's custom app.
import type { Hono } from 'hono';
import type { Logger } from 'pino';
import type { Settings } from '../config/settings/settings.ts';
import { bodyLength } from '../http/custom-app/inner-request.ts';
import { CustomApp, type CustomAppOptions } from '../http/custom-app/custom-app.ts';
import type { HttpEnv } from '../http/routing/call.ts';
import type { ServedApp } from '../http/server/listen.ts';
import type { CustomCode } from './custom-code.ts';

type Options = Omit<CustomAppOptions, 'app' | 'inside' | 'outside'> & { logger: Logger };

/** The built-in routes with the custom app around them. A worker serves only its health; its custom app gets webhooks. */
export const serveCustom = (
  inner: Hono<HttpEnv>,
  customCode: CustomCode,
  options: Options,
  role: Settings['role'],
): ServedApp => {
  const { app, inside, outside } = customCode;
  const custom = new CustomApp(inner, { ...options, app, inside, outside });
  for (const warning of custom.warnings) options.logger.warn(warning);
  const origin = `http://localhost${options.prefix}`;
  customCode.connect({
    fetchCustom: (path, init) => custom.fetchCustom(new Request(origin + path, init)),
    fetch: async (input, init) => {
      if (role === 'worker')
        throw new Error(
          'This process is a worker and serves no API: write new Client({ apiUrl: "https://…" })',
        );
      const { pathname, search } = new URL(input instanceof Request ? input.url : input, origin);
      const given = input instanceof Request ? new Request(input, init) : init;
      const request = new Request(origin + pathname + search, given);
      const length = init?.body ? bodyLength(init.body) : undefined;
      if (length !== undefined) request.headers.set('content-length', String(length));
      return outside(() => custom.fetch(request));
    },
  });
  return role === 'worker' ? inner : custom;
};
