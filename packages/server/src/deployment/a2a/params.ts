// Parameters of the methods, in the spelling of A2A 0.3 and of A2A 1.0. Unknown members are ignored, as the protocol demands.
import * as z from 'zod';
import { When } from '@svc/contract';
import type { AgentTaskState } from '../../storage/deployment/runs/agent-tasks.ts';
import { isUuid } from '../../storage/postgres/uuid.ts';
import type { Part } from './agent-task.ts';
import { states } from './wire.ts';

/** Protobuf writes absent texts as empty ones. */
const optionalText = z
  .string()
  .max(256)
  .nullish()
  .transform((text) => (text === null || text === '' ? undefined : text));

const partsMax = 100;
const historyMax = 10;

const FilePart = z
  .object({
    bytes: z.base64().optional(),
    uri: z.string().max(8_192).optional(),
    mimeType: z.string().max(256).nullish(),
    name: z.string().max(1_024).nullish(),
  })
  .refine(({ bytes, uri }) => (bytes === undefined) !== (uri === undefined), 'must have bytes or uri');

const OldPart = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('text'), text: z.string() }),
  z.object({ kind: z.literal('data'), data: z.unknown() }),
  z.object({ kind: z.literal('file'), file: FilePart }).transform(({ file }): Part => ({
    kind: 'file',
    bytes: file.bytes,
    uri: file.uri,
    mime: file.mimeType ?? undefined,
    name: file.name ?? undefined,
  })),
]);

const NewPart = z
  .object({
    text: z.string().optional(),
    data: z.unknown().optional(),
    raw: z.base64().optional(),
    url: z.string().max(8_192).optional(),
    filename: optionalText,
    mediaType: optionalText,
  })
  .transform((part, context): Part => {
    const { text, data, raw, url, filename: name, mediaType: mime } = part;
    if ([text, data, raw, url].filter((value) => value !== undefined).length !== 1)
      context.addIssue('must have one of text, data, raw and url');
    if (text !== undefined) return { kind: 'text', text };
    if (data !== undefined) return { kind: 'data', data };
    return { kind: 'file', bytes: raw, uri: url, mime, name };
  });

/** How much of the conversation a task contains. */
export interface HistoryView {
  length: number;
  scope: 'task' | 'context';
}

const HistoryFields = {
  historyLength: z.int().min(0).max(historyMax).nullish(),
  historyScope: z.enum(['task', 'context']).nullish(),
};

interface HistoryInput {
  historyLength?: number | null | undefined;
  historyScope?: 'task' | 'context' | null | undefined;
}

/** `scope` comes from a header of the request. */
export const historyView = (
  { historyLength, historyScope }: HistoryInput,
  scope: HistoryView['scope'] | undefined,
): HistoryView => ({ length: historyLength ?? historyMax, scope: historyScope ?? scope ?? 'task' });

const Configuration = z.object({
  ...HistoryFields,
  acceptedOutputModes: z.array(z.string().max(256)).max(100).nullish(),
  blocking: z.boolean().nullish(),
  returnImmediately: z.boolean().nullish(),
  pushNotificationConfig: z.unknown().optional(),
  taskPushNotificationConfig: z.unknown().optional(),
});

const sendParams = (role: string, part: z.ZodType<Part>) =>
  z.object({
    message: z.object({
      messageId: optionalText,
      contextId: optionalText.refine((id) => id === undefined || isUuid(id), 'must be the UUID of a thread'),
      taskId: optionalText,
      role: z.literal(role),
      parts: z.array(part).min(1).max(partsMax),
    }),
    configuration: Configuration.nullish(),
  });

export const SendParams = { '0.3': sendParams('user', OldPart), '1.0': sendParams('ROLE_USER', NewPart) };
export type SendParams = z.output<(typeof SendParams)['0.3']>;
export type SentMessage = SendParams['message'];

export const TaskParams = z.object({ id: z.string().min(1).max(256), ...HistoryFields });

const stateNames = Object.entries(states).flatMap(([state, name]) => [state, name]);
const toState = (name: string): AgentTaskState | undefined =>
  Object.entries(states).find((names) => names.includes(name))?.[0] as AgentTaskState | undefined;

export const ListParams = z.object({
  ...HistoryFields,
  contextId: z.guid('must be the UUID of a thread; tasks are listed by context'),
  status: z
    .enum([...stateNames, '', 'TASK_STATE_UNSPECIFIED'])
    .nullish()
    .transform((name) => (name ? toState(name) : undefined)),
  pageSize: z.int().min(0).max(100).nullish(),
  pageToken: optionalText.refine(
    (token) => token === undefined || /^\d{1,7}$/.test(token),
    'is not a page token of this server',
  ),
  statusTimestampAfter: When.nullish(),
  includeArtifacts: z.boolean().nullish(),
});

export type ListParams = z.output<typeof ListParams>;

/** Reads the id of a task: `<run>` or `<thread>:<run>`. Returns undefined for other texts. */
export const readTaskId = (id: string): { run_id: string; thread_id: string | undefined } | undefined => {
  const [last = '', first, ...more] = id.toLowerCase().split(':').toReversed();
  if (more.length > 0 || !isUuid(last) || (first !== undefined && !isUuid(first))) return undefined;
  return { run_id: last, thread_id: first };
};
