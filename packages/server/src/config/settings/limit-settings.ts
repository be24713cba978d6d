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
    doc: 'The largest request body; a larger one is answered with 413.',
  }),
  jsonValues: setting({
    variable: 'SVC_JSON_VALUES',
    type: integer({ min: 1_000, max: 100_000_000 }),
    default: '200000',
    doc: 'The most JSON values (objects, lists, texts, numbers) in a request body; more are answered with 413.',
  }),
  jsonKeys: setting({
    variable: 'SVC_JSON_KEYS',
    type: integer({ min: 1_000, max: 100_000_000 }),
    default: '50000',
    doc: 'The most keys of JSON objects in a request body; more are answered with 413.',
  }),
  jsonDepth: setting({
    variable: 'SVC_JSON_DEPTH',
    type: integer({ min: 10, max: 1_000 }),
    default: '100',
    doc: 'The deepest nesting of JSON in a request.',
  }),
  ingestLimit: setting({
    variable: 'SVC_INGEST_LIMIT',
    type: size({ minBytes: 1_024, maxBytes: 1_024 * mb }),
    default: '40mb',
    doc: 'The largest batch of traces, when it is no longer compressed; a larger one is answered with 413.',
  }),
  ingestValues: setting({
    variable: 'SVC_INGEST_VALUES',
    type: integer({ min: 1_000, max: 100_000_000 }),
    default: '1000000',
    doc: 'The most JSON values, spans, events and attributes in a batch of traces; more are answered with 413.',
  }),
  ingestKeys: setting({
    variable: 'SVC_INGEST_KEYS',
    type: integer({ min: 1_000, max: 100_000_000 }),
    default: '500000',
    doc: 'The most keys of JSON objects in a batch of traces; more are answered with 413.',
  }),
  ingestDepth: setting({
    variable: 'SVC_INGEST_DEPTH',
    type: integer({ min: 10, max: 1_000 }),
    default: '512',
    doc: 'The deepest nesting of JSON in a batch of traces; a run with more is rejected.',
  }),
  requestMemory: setting({
    variable: 'SVC_REQUEST_MEMORY',
    type: size({ minBytes: mb, maxBytes: 1_024 ** 2 * mb }),
    default: '64mb',
    doc: 'Memory for large request bodies and answers of one server process, with their copies; requests beyond it wait, then get 503.',
  }),
  answerLimit: setting({
    variable: 'SVC_ANSWER_LIMIT',
    type: size({ minBytes: 65_536, maxBytes: 1_024 * mb }),
    default: '16mb',
    doc: 'The largest page of a list; a longer page ends early. A single resource may be four times as large.',
  }),
};
