// Requests in the form of the stock tracer: each has 100 trace runs of about 3 KB, in parts. They are built before the measurement
// starts.
import { randomBytes, randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';

const boundary = '----LangSmithFormBoundarybench';

export const runsPerRequest = 100;

const words = Array.from({ length: 2_000 }, () =>
  randomBytes(6)
    .toString('hex')
    .slice(0, 3 + Math.floor(Math.random() * 8)),
);
const prose = (chars: number): string => {
  let text = '';
  while (text.length < chars) text += `${words[Math.floor(Math.random() * words.length)]} `;
  return text.slice(0, chars);
};

/** Ids that begin with the time, like those of tracers. */
const newId = (): string => {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Date.now(), 0, 6);
  bytes.writeUInt8(0x70 | (bytes.readUInt8(6) & 15), 6);
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 63), 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
};

const part = (name: string, value: unknown): string => {
  const text = JSON.stringify(value);
  return `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\nContent-Type: application/json; length=${text.length}\r\n\r\n${text}\r\n`;
};

const segment = (id: string): string =>
  `${new Date().toISOString().replaceAll(/[-:.]/g, '').slice(0, -1)}000Z${id}`;

/** The trace runs of a request: ten traces of ten runs each, a root and models below it. */
export const newTraces = () =>
  Array.from({ length: runsPerRequest / 10 }, () => {
    const root = newId();
    const thread_id = randomUUID();
    return Array.from({ length: 10 }, (_, index) => {
      const id = index === 0 ? root : newId();
      const metadata = {
        thread_id,
        revision_id: 'v1.2-abcdef',
        user_id: `user-${Math.floor(Math.random() * 1_000)}`,
        ls_provider: 'openai',
        ls_model_name: 'gpt-x',
        ls_model_type: 'chat',
        ls_temperature: 0.1,
        langgraph_step: index,
        langgraph_node: 'agent',
        langgraph_checkpoint_ns: `agent:${randomUUID()}`,
        LANGSMITH_PROJECT: 'bench',
      };
      return {
        id,
        trace_id: root,
        ...(index === 0 ? {} : { parent_run_id: root }),
        dotted_order: index === 0 ? segment(root) : `${segment(root)}.${segment(id)}`,
        name: index === 0 ? 'agent' : 'ChatModel',
        run_type: index === 0 ? 'chain' : 'llm',
        session_name: 'bench',
        start_time: new Date().toISOString(),
        tags: [`seq:step:${index}`],
        inputs: { messages: [{ role: 'user', content: prose(1_000) }] },
        outputs: {
          messages: [{ role: 'assistant', content: prose(900) }],
          usage_metadata: { input_tokens: 100, output_tokens: 50, total_tokens: 150 },
        },
        extra: {
          metadata,
          runtime: {
            library: 'langsmith',
            runtime: 'node',
            sdk: 'langsmith-js',
            sdk_version: '0.10.5',
            arch: 'x64',
          },
          invocation_params: { model: 'gpt-x', tools: prose(200) },
        },
      };
    });
  });

export type BenchRun = ReturnType<typeof newTraces>[number][number];

const parts = (operation: 'post' | 'patch', run: object): string => {
  const { inputs, outputs, extra, ...main } = run as Record<string, unknown>;
  const fields = Object.entries({ inputs, outputs, extra }).filter(([, value]) => value !== undefined);
  return (
    part(`${operation}.${String(main['id'])}`, main) +
    fields.map(([name, value]) => part(`${operation}.${String(main['id'])}.${name}`, value)).join('')
  );
};

const body = (text: string): Buffer => Buffer.from(`${text}--${boundary}--\r\n`);

export type Shape = 'whole' | 'halves';

/** `whole`: trace runs that begin and end within a request. `halves`: they begin in one request and end in the next. */
export const makeRequests = (count: number, shape: Shape, zipped: boolean): Buffer[] => {
  const pack = (text: string): Buffer => (zipped ? gzipSync(body(text)) : body(text));
  return Array.from({ length: shape === 'whole' ? count : count / 2 }, () => {
    const runs = newTraces().flat();
    const end_time = Date.now() + 1_000;
    if (shape === 'whole') return [pack(runs.map((run) => parts('post', { ...run, end_time })).join(''))];
    return [
      pack(runs.map((run) => parts('post', { ...run, outputs: undefined })).join('')),
      pack(runs.map((run) => parts('patch', { ...run, inputs: undefined, end_time })).join('')),
    ];
  }).flat();
};

export const requestHeaders = (key: string, zipped: boolean): Record<string, string> => ({
  'x-api-key': key,
  'content-type': `multipart/form-data; boundary=${boundary}`,
  ...(zipped ? { 'content-encoding': 'gzip' } : {}),
});
