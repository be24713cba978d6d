// Frames between a Node process and its Python process, in both directions over one socket.
//
//   u32  bytes of everything that follows (little endian)
//   u32  bytes of the header
//   header  JSON object: `kind`, the fields of the kind, and `parts`, the byte lengths of the parts
//   parts   raw bytes, one after another: JSON texts of values, or bodies
//
// A frame with `call` is a request: the other side answers it with {kind: "reply", call}, and with `error` when it has failed.
// Both sides number their own calls.
//
// kind          direction     meaning
// setup         to Python     first frame: protocol, work, paths, and what the work needs
// ready         to Node       answer to setup: protocol, python (version), versions (of packages), and what the work reports
// reply         both          answer to a call
// error         to Node       setup has failed: message, files (a change of them may correct it). The process ends
// modules       to Node       files of the project that were imported since the last one: files
// ping          to Python     call; its reply has cpu_ms, the time that the thread of the event loop has computed
// address       to Node       call: where get_client() without a URL sends its requests. Reply: url
// log           to Node       a record of the Python logger: level, logger, message, and run where it is known
//
// Work "graphs" (python-host.ts, svc_executor/executor.py). A session is one run, update or read; this side numbers them.
// load          to Python     call: imports all graphs. Reply: layouts, failures, notices
// layout        to Python     call: the layout of a graph that a function makes: graph, access, config. Reply: layout
// introspect    to Python     call: drawing, schemas or subgraphs: graph, what, config. Reply: value
// run           to Python     streams a graph: session, graph, config, modes, … (runs.py). Parts: the input, the context
// cancel        to Python     cancels a run: session
// drain         to Python     ends a run before its next superstep, with the error GraphDrained, if the engine can: session
// pause         to Python     as drain, but before a superstep of the graph itself, not of a subgraph; the run goes on in another session: session
// update        to Python     call: one superstep of a state update: session, graph, config, updates. Parts: their values
// state         to Python     call: the state of a checkpoint as the engine derives it: session, graph, path, config. Reply: state (a shape)
// layout        to Node       the layout of the graph that a function has made for this run: session, layout
// chunks        to Node       what the graph has streamed in one turn of the event loop: session, chunks: [namespace, mode, shape]
// end           to Node       the graph of the run has ended: session, error
// trace         to Node       a step of the run has begun or ended: session, event, run, payloads. Parts: inputs and outputs
// get           to Node       call: reads a checkpoint: session, thread, ns, id. Reply: tuple
// list          to Node       call: reads checkpoints. Reply: tuples
// deltas        to Node       call: the changes of delta channels: channels. Reply: channels
// put           to Node       stores a checkpoint: checkpoint, metadata, values; a call when the graph waits for it
// writes        to Node       stores writes of a task: writes, task, path; a call when the graph waits for it
// delete        to Node       call: deletes the checkpoints of the thread: thread
// store         to Node       call: operations on the store: operations. Reply: results
//
// Values of channels are described as in svc_executor/lists.py, chunks and states as in svc_executor/shapes.py. Work "auth": src/app/python-auth.ts.

import { BrokenFrame, type Framing } from '../../jobs/process-channel.ts';

/** Changes with every change that the other side has to know. */
export const protocolVersion = 3;

export interface FrameHeader {
  kind: string;
  call?: number;
  [field: string]: unknown;
}

export interface Frame<Part = Buffer> {
  header: FrameHeader;
  parts: readonly Part[];
}

/** No frame of svc is longer: other code has written to the channel, or a step has more values than can be stored. */
export const frameBytesMax = 512 * 1024 * 1024;

const lengthBytes = 4;

export class FrameTooLarge extends Error {
  override readonly name = 'FrameTooLarge';
}

const encode = ({ header, parts }: Frame<string | Buffer>): Buffer => {
  const sizes = parts.map((part) => Buffer.byteLength(part));
  const head = JSON.stringify(parts.length > 0 ? { ...header, parts: sizes } : header);
  const headBytes = Buffer.byteLength(head);
  const total = sizes.reduce((sum, size) => sum + size, lengthBytes + headBytes);
  if (total > frameBytesMax) throw new FrameTooLarge(`a frame of ${total} bytes, at most ${frameBytesMax}`);
  const frame = Buffer.allocUnsafe(lengthBytes + total);
  frame.writeUInt32LE(total, 0);
  frame.writeUInt32LE(headBytes, lengthBytes);
  frame.write(head, 2 * lengthBytes, 'utf8');
  let at = 2 * lengthBytes + headBytes;
  for (const [index, part] of parts.entries()) {
    if (typeof part === 'string') frame.write(part, at, 'utf8');
    else part.copy(frame, at);
    at += sizes[index] ?? 0;
  }
  return frame;
};

const decode = (bytes: Buffer): Frame => {
  const headBytes = bytes.readUInt32LE(0);
  let at = lengthBytes + headBytes;
  if (at > bytes.length) throw new BrokenFrame('a header that is longer than its frame');
  const { parts: sizes = [], ...header } = parseHeader(bytes.toString('utf8', lengthBytes, at));
  const parts: Buffer[] = [];
  for (const size of sizes) {
    parts.push(bytes.subarray(at, at + size));
    at += size;
  }
  if (at !== bytes.length) throw new BrokenFrame('parts that do not fill their frame');
  return { header: header as FrameHeader, parts };
};

const parseHeader = (text: string): FrameHeader & { parts?: number[] } => {
  let header: unknown;
  try {
    header = JSON.parse(text);
  } catch (cause) {
    throw new BrokenFrame('a header that is not JSON', { cause });
  }
  if (!isHeader(header)) throw new BrokenFrame('a header without a kind');
  return header;
};

const isHeader = (value: unknown): value is FrameHeader & { parts?: number[] } => {
  if (typeof value !== 'object' || value === null) return false;
  const { kind, parts } = value as { kind?: unknown; parts?: unknown };
  const isCount = (size: unknown): boolean => Number.isSafeInteger(size) && (size as number) >= 0;
  return typeof kind === 'string' && (parts === undefined || (Array.isArray(parts) && parts.every(isCount)));
};

/** Encoding throws FrameTooLarge. */
export const pythonFraming: Framing<Frame<string | Buffer>, Frame> = {
  encode,
  decode,
  bytesMin: lengthBytes,
  bytesMax: frameBytesMax,
};
