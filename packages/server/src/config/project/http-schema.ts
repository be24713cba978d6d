import * as z from 'zod';
import { HeaderPatterns } from './header-patterns.ts';
import { routeSwitches } from './route-switches.ts';
import { urlPath } from '../settings/url-path.ts';

export const CorsSection = z.looseObject({
  allow_origins: z
    .array(z.string().min(1))
    .optional()
    .describe(
      'Origins whose pages may use the server: "https://app.example.com"; "*" for all, "null" for files',
    ),
  allow_origin_regex: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Further origins, as a regular expression for the whole origin: "https://.*\\\\.example\\\\.com"',
    ),
  allow_methods: z.array(z.string().min(1)).optional().describe('All by default'),
  allow_headers: z.array(z.string().min(1)).optional().describe('Request headers; all by default'),
  allow_credentials: z.boolean().optional().describe('Whether cookies may be sent; false by default'),
  expose_headers: z
    .array(z.string().min(1))
    .optional()
    .describe('Response headers in addition to the default ones'),
  max_age: z
    .int()
    .min(0)
    .max(86_400)
    .optional()
    .describe('Seconds for which a browser may cache this; 600 by default'),
});

export type CorsSection = z.infer<typeof CorsSection>;

export const HttpSection = z
  .looseObject({
    app: z
      .string()
      .min(1)
      .optional()
      .describe(
        '"<file>:<export>" of an app with custom routes and middleware, of Hono ("./src/app.ts:app"), Starlette or FastAPI ("./src/app.py:app")',
      ),
    middleware_order: z
      .enum(['middleware_first', 'auth_first'])
      .optional()
      .describe(
        'Whether the middleware of "app" runs before or after the authentication of built-in routes; "middleware_first" by default, "auth_first" in a file of the stock server',
      ),
    enable_custom_route_auth: z
      .boolean()
      .optional()
      .describe(
        'Whether routes of "app" need the authentication of built-in routes; true by default. With false, everybody may call them',
      ),
    enable_ui_auth: z
      .boolean()
      .optional()
      .describe('Whether GET /ui/… needs the authentication of other routes; false by default'),
    configurable_headers: HeaderPatterns.optional().describe(
      'Request headers that a run gets in config.configurable; none by default',
    ),
    mount_prefix: z
      .string()
      .regex(urlPath, { error: 'must be a path such as "/agents", without a slash at the end' })
      .optional()
      .describe('Path before all routes; none by default'),
    ...routeSwitches,
    logging_headers: HeaderPatterns.optional().describe('Request headers in the log; none by default'),
    cors: CorsSection.optional().describe(
      'Web pages of other origins that may use the server; none by default',
    ),
  })
  .optional()
  .describe('Custom routes, CORS, headers that reach the graph');

export type HttpSection = z.infer<typeof HttpSection>;
