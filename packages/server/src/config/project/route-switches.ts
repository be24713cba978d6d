// `http.disable_…` of svc.json: parts of the API that a deployment does not serve.
import * as z from 'zod';

const off = (what: string) => z.boolean().optional().describe(`true: ${what}; false by default`);

export const routeSwitches = {
  disable_assistants: off('no routes under /assistants'),
  disable_threads: off('no routes of threads and their states, no thread protocol, and no jobs'),
  disable_runs: off('no routes of runs and crons, no thread protocol, and no jobs'),
  disable_store: off('no routes under /store'),
  disable_mcp: off('no /mcp'),
  disable_a2a: off('no /a2a and no agent cards'),
  disable_ui: off('no routes under /ui'),
  disable_meta: off('no /info, /metrics, /docs and /openapi.json, and /ok does not check the database'),
  disable_webhooks: off('a run or cron with a webhook is refused'),
};

export interface DisabledRoutes {
  /** Tags of routes of the deployment API. */
  readonly tags: ReadonlySet<string>;
  readonly meta: boolean;
  readonly webhooks: boolean;
}

const tagsOf = {
  disable_assistants: ['Assistants'],
  disable_threads: ['Threads', 'Thread protocol', 'Jobs'],
  disable_runs: ['Runs', 'Crons', 'Thread protocol', 'Jobs'],
  disable_store: ['Store'],
  disable_mcp: ['MCP'],
  disable_a2a: ['A2A'],
  disable_ui: ['UI'],
} as const;

export const readDisabledRoutes = (
  section: { readonly [K in keyof typeof routeSwitches]?: boolean | undefined } = {},
): DisabledRoutes => ({
  tags: new Set(
    Object.entries(tagsOf).flatMap(([key, tags]) =>
      section[key as keyof typeof tagsOf] === true ? tags : [],
    ),
  ),
  meta: section.disable_meta === true,
  webhooks: section.disable_webhooks === true,
});
