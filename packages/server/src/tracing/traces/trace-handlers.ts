import type { traceRoutes } from '@svc/contract';
import { type Handlers, RawBytes, RawJson, Reply } from '../../api/handlers.ts';
import { tenantOf } from '../../auth/principal/caller.ts';
import type { IngestService } from '../ingest/ingest-service.ts';
import { boundaryOf } from '../ingest/multipart.ts';
import { toOtlpAnswer, toProtobuf } from '../ingest/otlp/otlp-answer.ts';
import { toRunPage } from './run-page.ts';
import { type AttachmentService, readerOf } from './attachment-service.ts';
import type { TraceService } from './trace-service.ts';

export interface TraceParts {
  ingest: IngestService;
  traces: TraceService;
  attachments: AttachmentService;
}

/** The version of the stock server whose reads svc has; older ones make stock clients warn. Unrelated to the version of svc. */
const protocolVersion = '0.18.0';

const json = 'application/json';

const ingestInfo = {
  version: protocolVersion,
  license_expiration_time: null,
  batch_ingest_config: {
    use_multipart_endpoint: true,
    size_limit: 100,
    size_limit_bytes: 20_971_520,
    scale_up_qsize_trigger: 1_000,
    scale_up_nthreads_limit: 16,
    scale_down_nempty_trigger: 4,
  },
  instance_flags: {
    gzip_body_enabled: true,
    zstd_compression_enabled: true,
    dataset_examples_multipart_enabled: false,
    sdb_query_enabled: false,
    ch_query_enabled: false,
  },
  customer_info: null,
};

/** Clients may attach a file with any text as its type; a response with such a header would fail. */
const mediaType = /^[\w.+-]+\/[\w.+-]+$/;

export const traceHandlers = ({ ingest, traces, attachments }: TraceParts): Handlers<typeof traceRoutes> => ({
  getIngestInfo: () => ingestInfo,

  ingestMultipart: ({ body }, call) => {
    const boundary = boundaryOf(call.header('content-type'));
    return ingest.ingest(tenantOf(call), body, { kind: 'multipart', boundary });
  },

  ingestBatch: ({ body }, call) => ingest.ingest(tenantOf(call), body, { kind: 'batch' }),

  ingestRun: ({ body }, call) =>
    ingest.ingest(tenantOf(call), body, { kind: 'run', operation: 'post', id: undefined }),

  ingestRunPatch: ({ params, body }, call) =>
    ingest.ingest(tenantOf(call), body, { kind: 'run', operation: 'patch', id: params.id }),

  ingestOtlp: async ({ body }, call) => {
    const isJson = call.header('content-type')?.toLowerCase().startsWith(json) === true;
    const format = isJson ? 'json' : 'protobuf';
    const project = call.header('langsmith-project') ?? call.header('svc-project');
    const { rejections } = await ingest.ingestPartially(tenantOf(call), body, {
      kind: 'otlp',
      format,
      project,
    });
    const answer = toOtlpAnswer(rejections);
    return isJson ? answer : new RawBytes('application/x-protobuf', toProtobuf(answer));
  },

  getTraceRun: async ({ params }, call) => new RawJson(await traces.get(readerOf(call), params.id)),

  listTraceAttachments: async ({ params, query }, call) => {
    const tenant_id = tenantOf(call);
    if (query.name === undefined) return attachments.list(tenant_id, params.id);
    const { name, content_type, content } = await attachments.get(tenant_id, params.id, query.name);
    return [{ name, content_type, bytes: content.length, content: content.toString('base64') }];
  },

  getTraceAttachment: async ({ params }, call) => {
    const { name, content_type, content } = await attachments.get(tenantOf(call), params.id, params.name);
    return { name, content_type, content: content.toString('base64') };
  },

  openAttachmentLink: async ({ params }) => {
    const { content_type, content } = await attachments.open(params.token);
    const type = mediaType.test(content_type) ? content_type : 'application/octet-stream';
    return new Reply(new RawBytes(type, Uint8Array.from(content)), { isDownload: true });
  },

  getTrace: async ({ params }, call) => new RawJson(await traces.tree(tenantOf(call), params.trace_id)),

  getRunStats: ({ body }, call) => traces.stats(tenantOf(call), body),

  getRunStatsSeries: ({ body }, call) => traces.series(tenantOf(call), body),

  queryTraceRuns: async ({ body }, call) => toRunPage(await traces.query(readerOf(call), body)),
});
