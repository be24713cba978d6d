import * as z from 'zod';
import { Empty, Id, JsonObject, nullish, QueryBoolean, queryList, Time } from '../json.ts';
import { routesOf } from '../route.ts';
import { pageQuery } from './run-reads.ts';

const route = routesOf('Projects');

export const Project = z
  .object({
    id: z.uuid(),
    tenant_id: z.uuid(),
    name: z.string(),
    description: z.string().nullable(),
    extra: JsonObject.nullable(),
    start_time: Time.describe('When the project was created'),
    reference_dataset_id: z.null().describe('There are no datasets. Stock clients require the field'),
  })
  .meta({ id: 'Project', description: 'A named group of traces; stock clients call it a session' });
export type Project = z.output<typeof Project>;

const TypedProject = Project.extend({
  type: z.enum(['PROJECT', 'AGENT']).describe('AGENT: the project of an address'),
}).meta({ id: 'TypedProject', description: 'A project, as version 2 lists it' });
export type TypedProject = z.output<typeof TypedProject>;

const noExperiments = 'There are no datasets and experiments.';
const noStatistics = 'Projects have no statistics; POST /api/v1/runs/stats has them.';
const notAFilter = 'Projects are found by id and name.';

const found = {
  id: queryList(Id).describe('Only projects with these ids'),
  name: z.string().max(1024).optional(),
  name_contains: z.string().max(1024).optional().describe('Only projects with this text in their name'),
};

export const projectRoutes = {
  listProjects: route('get', '/api/v1/sessions', {
    summary: 'Projects, newest first',
    access: { permission: 'read' },
    query: z.object({
      ...found,
      limit: z.coerce.number().int().min(1).max(100).default(100),
      offset: z.coerce.number().int().min(0).max(100_000).default(0),
    }),
    ignored: {
      query: { include_stats: noStatistics, reference_free: noExperiments },
    },
    unsupported: {
      query: {
        metadata: notAFilter,
        reference_dataset: noExperiments,
        dataset_version: noExperiments,
      },
    },
    response: z.array(Project),
  }),
  listTypedProjects: route('get', '/api/v2/sessions', {
    summary: 'Projects by cursor, newest first',
    access: { permission: 'read' },
    query: z.object({
      ...found,
      type: queryList(z.enum(['PROJECT', 'AGENT', 'EXPERIMENT'])).describe(
        'Only projects of these types. There are no experiments',
      ),
      sort_by: z.literal('START_TIME').optional().describe('The only order that exists'),
      sort_order: z.literal('desc').optional().describe('The only direction that exists'),
      ...pageQuery,
    }),
    ignored: {
      query: {
        include_stats: noStatistics,
        include_facets: noStatistics,
        stats_filter: noStatistics,
        stats_select: noStatistics,
        stats_start_time: noStatistics,
        use_approx_stats: noStatistics,
      },
    },
    unsupported: {
      query: {
        filter: notAFilter,
        metadata: notAFilter,
        dataset_version: noExperiments,
        reference_dataset_id: noExperiments,
        sort_by_feedback_key: noExperiments,
        sort_by_feedback_source: noExperiments,
        tag_value_id: 'Projects have no tags.',
      },
    },
    response: z.object({
      items: z.array(TypedProject),
      has_more: z.boolean(),
      next_cursor: z.string().nullable(),
    }),
  }),
  resolveProject: route('get', '/api/v1/sessions/resolutions', {
    summary: 'The project of an address: the traces that were sent to an agent in an environment',
    access: { permission: 'read' },
    query: z.object({
      kind: z
        .string()
        .transform((kind) => kind.toUpperCase())
        .pipe(z.enum(['AGENT', 'EXPERIMENT', 'EVALUATOR']))
        .describe('Only AGENT has projects; the others get 501'),
      id: z.string().max(63).optional().describe('Id of the agent'),
      environment: z.string().max(63).optional().describe('Environment of the agent, in any case'),
    }),
    response: z.object({ session_id: z.uuid() }),
    errors: ['not_found', 'not_supported'],
  }),
  createProject: route('post', '/api/v1/sessions', {
    summary: 'Create a project; ingestion creates missing projects itself',
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
  getProject: route('get', '/api/v1/sessions/:session_id', {
    summary: 'Get a project',
    access: { permission: 'read' },
    params: z.object({ session_id: Id }),
    ignored: {
      query: { include_stats: noStatistics, limit: 'Stock Python clients send it for a single project too.' },
    },
    response: Project,
    errors: ['not_found'],
  }),
  changeProject: route('patch', '/api/v1/sessions/:session_id', {
    summary: 'Change the given fields of a project; null leaves a field as it is',
    access: { permission: 'write' },
    params: z.object({ session_id: Id }),
    body: z.object({
      name: nullish(z.string().min(1).max(1024)),
      description: nullish(z.string().max(65_536)),
      extra: nullish(JsonObject),
    }),
    unsupported: {
      body: {
        end_time: 'Projects do not end.',
        default_dataset_id: noExperiments,
        longlived_ttl_days: 'SVC_TRACE_RETENTION holds for all projects.',
        trace_tier: 'SVC_TRACE_RETENTION holds for all projects.',
      },
    },
    response: Project,
    errors: ['not_found', 'conflict'],
  }),
  deleteProject: route('delete', '/api/v1/sessions/:session_id', {
    audited: 'project.delete',
    summary: 'Delete a project with its trace runs and their feedback',
    access: { permission: 'write' },
    params: z.object({ session_id: Id }),
    response: Empty,
    status: 204,
    errors: ['not_found'],
  }),
};
