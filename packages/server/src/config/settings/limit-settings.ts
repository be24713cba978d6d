// Settings that limit the memory and time for the body and the response of one request.
import { setting } from './setting-definition.ts';
import { integer, size } from './setting-type.ts';

const mb = 1_024 ** 2;

export const limitSettings = {
  bodyLimit: setting({
    variable: 'SVC_BODY_LIMIT',
    aliases: [{ name: 'HTTP_MAX_REQUEST_BODY_BYTES', unit: 'b' }],
    type: size({ minBytes: 1_024, maxBytes: 1_024 * mb }),
    default: '20mb',
    doc: 'Largest request body; a larger one gets 413.',
  }),
  jsonValues: setting({
    variable: 'SVC_JSON_VALUES',
    type: integer({ min: 1_000, max: 100_000_000 }),
    default: '200000',
    doc: 'Most JSON values (objects, lists, strings, numbers) in a request body; more get 413.',
  }),
  jsonKeys: setting({
    variable: 'SVC_JSON_KEYS',
    type: integer({ min: 1_000, max: 100_000_000 }),
    default: '50000',
    doc: 'Most keys of JSON objects in a request body; more get 413.',
  }),
  jsonDepth: setting({
    variable: 'SVC_JSON_DEPTH',
    type: integer({ min: 10, max: 1_000 }),
    default: '100',
    doc: 'Deepest nesting of JSON in a request body; deeper gets 422.',
  }),
  ingestLimit: setting({
    variable: 'SVC_INGEST_LIMIT',
    type: size({ minBytes: 1_024, maxBytes: 1_024 * mb }),
    default: '40mb',
    doc: 'Largest batch of traces after decompression; a larger one gets 413.',
  }),
  ingestValues: setting({
    variable: 'SVC_INGEST_VALUES',
    type: integer({ min: 1_000, max: 100_000_000 }),
    default: '1000000',
    doc: 'Most JSON values, spans, events and attributes in a batch of traces; more get 413.',
  }),
  ingestKeys: setting({
    variable: 'SVC_INGEST_KEYS',
    type: integer({ min: 1_000, max: 100_000_000 }),
    default: '500000',
    doc: 'Most keys of JSON objects in a batch of traces; more get 413.',
  }),
  ingestDepth: setting({
    variable: 'SVC_INGEST_DEPTH',
    type: integer({ min: 10, max: 1_000 }),
    default: '512',
    doc: 'Deepest nesting of JSON in a batch of traces; a run with deeper JSON is rejected.',
  }),
  requestMemory: setting({
    variable: 'SVC_REQUEST_MEMORY',
    type: size({ minBytes: mb, maxBytes: 1_024 ** 2 * mb }),
    default: '64mb',
    doc: 'Memory of one server process for large request bodies and responses, including copies; requests beyond it wait, then get 503.',
  }),
  answerLimit: setting({
    variable: 'SVC_ANSWER_LIMIT',
    type: size({ minBytes: 65_536, maxBytes: 1_024 * mb }),
    default: '16mb',
    doc: 'Largest page of a list; a larger page ends early. A single object may be four times as large.',
  }),
};
