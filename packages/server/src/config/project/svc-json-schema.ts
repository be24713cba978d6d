import * as z from 'zod';
import { ConsoleSection } from './console-schema.ts';
import { settingDefinitions, settingKeys } from '../settings/definitions.ts';
import { CheckpointerSection, StoreSection } from './expiry-schema.ts';
import { HttpSection } from './http-schema.ts';

/** Begins with a letter, digit or _, so that no id looks like a path or a flag. `readGraphs` refuses the names of object members. */
export const graphIdPattern = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

const graphPath = z
  .string()
  .min(1)
  .describe(
    '"<file>:<export>", relative to this file: "./agent.ts:graph" or "./agent.py:graph"; or "<module>:<name>" of Python',
  );

const section = (description: string) => z.looseObject({}).optional().describe(description);

const setting = z.union([z.string(), z.number(), z.boolean()]);

export const WebhooksSection = z.looseObject({
  env_prefix: z
    .string()
    .min(1)
    .optional()
    .describe('Prefix of the names of variables in headers; "SVC_WEBHOOK_" by default'),
  headers: z
    .record(z.string(), z.string())
    .optional()
    .describe('Sent with webhooks: {"authorization": "Bearer ${{ env.SVC_WEBHOOK_TOKEN }}"}'),
  secret_domains: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe('Hosts that receive headers with secrets; those of url.allowed_domains by default'),
  url: z
    .looseObject({
      require_https: z.boolean().optional().describe('Whether http:// is refused; false by default'),
      allowed_domains: z
        .array(z.string().min(1))
        .optional()
        .describe('Names; "*.example.com" allows all names below example.com; all by default'),
      allowed_ports: z.array(z.int().min(1).max(65_535)).optional().describe('80 and 443 by default'),
      max_url_length: z.int().min(1).max(65_536).optional().describe('Characters; 8192 by default'),
      disable_loopback: z
        .boolean()
        .optional()
        .describe('Whether requests to the machine of the server are refused; true by default'),
    })
    .optional(),
});

export type WebhooksSection = z.infer<typeof WebhooksSection>;

export const AuthSection = z.looseObject({
  path: z
    .string()
    .min(1)
    .describe('"<file>:<export>" of the Auth object: "./auth.ts:auth" or "./auth.py:auth"'),
  disable_studio_auth: z
    .boolean()
    .optional()
    .describe('Refuses the Studio user, also with a correct key; false by default'),
  cache: z
    .looseObject({
      cache_keys: z.array(z.string().min(1)).min(1).max(10).describe('Headers that identify the caller'),
      ttl_seconds: z.number().positive().max(86_400).describe('How long a result of authenticate is kept'),
      max_size: z
        .int()
        .min(1)
        .max(1_000_000)
        .optional()
        .describe('Number of results that are kept; 1000 by default'),
    })
    .optional()
    .describe('Keeps results of authenticate; by default it is called for every request'),
});

export type AuthSection = z.infer<typeof AuthSection>;

/** The schema of the file. Unknown keys are kept, and the loader warns of them. */
export const SvcJsonFile = z
  .looseObject({
    $schema: z.string().optional(),
    compat: z
      .literal('langgraph')
      .optional()
      .describe(
        'Enables the spellings of LangGraph Server; implied by the file name langgraph.json and by keys that only its files have',
      ),
    graphs: z
      .record(
        z.string().regex(graphIdPattern),
        z.union([graphPath, z.looseObject({ path: graphPath, description: z.string().optional() })]),
      )
      .describe('The graphs to serve: a compiled graph, a builder, or a factory of one, by graph id'),
    dependencies: z
      .array(z.string())
      .optional()
      .describe(
        'Local folders, in which Python finds modules, or names of packages, which are not installed; informative for JavaScript graphs',
      ),
    python: z
      .string()
      .min(1)
      .optional()
      .describe(
        'The Python interpreter of .py files, relative to this file: ".venv/bin/python"; by default that of VIRTUAL_ENV, .venv, uv or poetry, or python3',
      ),
    env: z
      .union([
        z.string(),
        z.array(z.string()),
        z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
      ])
      .optional()
      .describe('Variables for the graphs: a file, a map, or a list of names that must be set'),
    settings: z
      .looseObject(
        Object.fromEntries(
          settingKeys
            // The file is usually committed, so it must not contain passwords.
            .filter((key) => !settingDefinitions[key].type.secret)
            .map((key) => [key, setting.optional().describe(settingDefinitions[key].doc)]),
        ),
      )
      .optional()
      .describe('Settings of the server, which variables and flags override: {"port": 8080, "lease": "30s"}'),
    auth: AuthSection.optional().describe('Custom authentication: {"path": "./auth.ts:auth"}'),
    console: ConsoleSection.optional().describe('How users sign in to the console'),
    http: HttpSection,
    store: StoreSection,
    checkpointer: CheckpointerSection,
    webhooks: WebhooksSection.optional().describe('Allowed webhooks, and their headers'),
    encryption: section('Custom encryption'),
    ui: z
      .record(z.string().regex(graphIdPattern), z.string().min(1))
      .optional()
      .describe('Components for generative user interfaces, by agent: {"agent": "./ui.tsx"}'),
    ui_config: z
      .looseObject({
        shared: z
          .array(z.string().min(1))
          .optional()
          .describe(
            'Packages that the page provides to the components; React and the LangGraph SDK always are',
          ),
      })
      .optional()
      .describe('How the components of "ui" are built'),
    node_version: z
      .union([z.string(), z.number()])
      .optional()
      .describe('Node.js of the image that svc dockerfile describes: 24'),
    node_loader: z.string().optional(),
    python_version: z.string().optional().describe('Python of the project: "3.12"'),
    pip_config_file: z.string().optional(),
    pip_installer: z.string().optional(),
    keep_pkg_tools: z.unknown().optional(),
    api_version: z.string().optional(),
    base_image: z.string().optional(),
    image_distro: z.string().optional(),
    dockerfile_lines: z
      .array(z.string())
      .optional()
      .describe('Lines of the Dockerfile, after its first FROM'),
    docker_compose_file: z.string().optional(),
    source: section('For image builds'),
    disable_persistence: z.boolean().optional(),
    _INTERNAL_docker_tag: z.string().optional(),
  })
  .describe('svc.json: what a deployment serves, and how');

export type SvcJsonFile = z.infer<typeof SvcJsonFile>;

/** The content of svc.schema.json, for editors. */
export function svcJsonSchema(): string {
  const schema = z.toJSONSchema(SvcJsonFile, { target: 'draft-7', io: 'input' });
  return `${JSON.stringify(schema, null, 2)}\n`;
}
