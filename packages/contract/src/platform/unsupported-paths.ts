// Parts of the stock platform API that the server does not have. Requests below these paths get 501, so that a client can tell them
// from a misspelled path.

export interface UnsupportedPath {
  /** With `:name` segments. Paths below it are included. */
  path: `/${string}`;
  /** What the server does not have, in the plural. */
  what: string;
}

const under = (what: string, ...paths: `/${string}`[]): UnsupportedPath[] =>
  paths.map((path) => ({ path, what }));

export const unsupportedPaths: readonly UnsupportedPath[] = [
  ...under(
    'datasets, examples and experiments',
    '/api/v1/datasets',
    '/api/v2/datasets',
    '/api/v1/examples',
    '/api/v1/platform/datasets',
  ),
  ...under('annotation queues', '/api/v1/annotation-queues', '/api/v1/platform/annotation-queues'),
  ...under(
    'prompts, and agents and skills of a hub',
    '/api/v1/repos',
    '/api/v1/commits',
    '/api/v1/likes',
    '/api/v1/prompt-webhooks',
    '/api/v1/platform/hub',
  ),
  ...under(
    'public links to traces',
    '/api/v1/runs/:id/share',
    '/api/v2/runs/:id/share',
    '/api/v2/threads/:thread_id/share',
    '/api/v1/public',
    '/api/v2/public',
  ),
  ...under('configurations of feedback', '/api/v1/feedback-configs'),
  ...under('evaluators and rules', '/api/v1/runs/rules', '/api/v1/platform/evaluators'),
  ...under('registered agents', '/api/v1/agents'),
  ...under('web pages of traces', '/api/v2/runs/:id/url'),
  ...under('dashboards', '/api/v1/sessions/:session_id/dashboard'),
  ...under(
    'reports of insights',
    '/api/v1/sessions/:session_id/insights',
    '/api/v1/workspaces/current/secrets',
  ),
  ...under('sandboxes', '/api/v2/sandboxes'),
  ...under('SQL queries', '/v2/sql'),
  ...under(
    'issues and feedback on the product',
    '/api/v1/platform/issues',
    '/api/v1/platform/product-feedbacks',
  ),
];
