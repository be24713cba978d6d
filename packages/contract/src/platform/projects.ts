import { z } from 'zod';
import { Empty, Id, JsonObject, nullish, QueryBoolean, Time } from '../json.ts';
import { route } from '../route.ts';

const tag = 'Projects';

export const Project = z
  .object({
    id: z.uuid(),
    tenant_id: z.uuid(),
    name: z.string(),
    description: z.string().nullable(),
    extra: JsonObject.nullable(),
    start_time: Time.describe('When the project was created'),
  })
  .meta({ id: 'Project', description: 'A named group of traces; stock clients call it a session' });
export type Project = z.output<typeof Project>;

const noExperiments = 'There are no datasets and experiments.';
const noStatistics = 'Projects have no statistics; POST /api/v1/runs/stats has them.';
const notAFilter = 'Projects are found by their exact name only.';

export const projectRoutes = {
  listProjects: route({
    method: 'get',
    path: '/api/v1/sessions',
    summary: 'Projects, newest first',
    tag,
    access: { permission: 'read' },
    query: z.object({
      name: z.string().max(1024).optional(),
      limit: z.coerce.number().int().min(1).max(100).default(100),
      offset: z.coerce.number().int().min(0).max(100_000).default(0),
    }),
    ignored: {
      query: { include_stats: noStatistics, reference_free: noExperiments },
    },
    unsupported: {
      query: {
        id: notAFilter,
        name_contains: notAFilter,
        metadata: notAFilter,
        reference_dataset: noExperiments,
        dataset_version: noExperiments,
      },
    },
    response: z.array(Project),
  }),
  createProject: route({
    method: 'post',
    path: '/api/v1/sessions',
    summary: 'Create a project; ingestion creates missing projects itself',
    tag,
    access: { permission: 'write' },
    query: z.object({
      upsert: QueryBoolean.optional().describe('Whether an existing project with the name is returned'),
    }),
    body: z.object({
      id: nullish(Id),
      name: z.string().min(1).max(1024),
      description: nullish(z.string().max(65_536)),
      extra: nullish(JsonObject),
    }),
    ignored: {
      body: {
        reference_dataset_id: noExperiments,
        num_examples: noExperiments,
        num_repetitions: noExperiments,
        evaluator_keys: noExperiments,
        tag_value_ids: 'Projects have no tags.',
      },
    },
    response: Project,
    errors: ['conflict'],
  }),
  getProject: route({
    method: 'get',
    path: '/api/v1/sessions/:session_id',
    summary: 'Get a project',
    tag,
    access: { permission: 'read' },
    params: z.object({ session_id: Id }),
    ignored: {
      query: { include_stats: noStatistics, limit: 'Stock Python clients send it for a single project too.' },
    },
    response: Project,
    errors: ['not_found'],
  }),
  deleteProject: route({
    method: 'delete',
    path: '/api/v1/sessions/:session_id',
    summary: 'Delete a project with its trace runs and their feedback',
    tag,
    access: { permission: 'write' },
    params: z.object({ session_id: Id }),
    response: Empty,
    status: 204,
    errors: ['not_found'],
  }),
};
