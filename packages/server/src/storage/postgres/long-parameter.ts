// Parameters that are sent as several byte arrays. The driver copies all parameters of a statement to one buffer, and that buffer to
// another, which takes the event loop 100 ms and more for each copy of 36 MB where new pages are slow.
// Message: https://www.postgresql.org/docs/current/protocol-message-formats.html, Bind.

/** A parameter in PostgreSQL's binary format. The bytes must not change until the statement has ended. */
export class LongParameter {
  readonly pieces: readonly Uint8Array[];
  readonly length: number;

  constructor(pieces: readonly Uint8Array[]) {
    this.pieces = pieces;
    this.length = pieces.reduce((sum, { length }) => sum + length, 0);
  }
}

export interface BindConfig {
  portal?: string;
  statement?: string;
  values?: readonly unknown[];
  binary?: boolean;
  /** Returns a value as the driver sends it: text, bytes in the binary format, or null. */
  valueMapper?: (value: unknown, index: number) => string | Buffer | null;
}

interface DriverConnection {
  stream: { writable: boolean; write(bytes: Uint8Array): boolean };
  bind(config: BindConfig): void;
}

const binaryFormat = 1;
const nullLength = -1;
/** Longer texts and byte arrays are not copied; texts are encoded once. In characters or bytes. */
export const shortMax = 65_536;

const isLong = (value: unknown): boolean =>
  value instanceof LongParameter || (typeof value === 'string' && value.length > shortMax);

/** Makes a connection of the driver send long parameters. The driver's types do not expose the connection. */
export const sendLongParameters = (client: object): void => {
  const { connection } = client as { connection: DriverConnection };
  const bind = connection.bind.bind(connection);
  connection.bind = (config) => {
    if (config.values?.some(isLong) !== true) return bind(config);
    const message = bindMessage(config);
    if (connection.stream.writable) for (const bytes of message) connection.stream.write(bytes);
  };
};

/** The message in parts, without copies of the long parameters. */
export const bindMessage = ({
  portal = '',
  statement = '',
  values = [],
  binary = false,
  valueMapper = (value) => value as string | Buffer | null,
}: BindConfig): Uint8Array[] => {
  const parameters = values.map((value, index) => {
    if (value instanceof LongParameter) return value;
    const mapped = valueMapper(value, index);
    return typeof mapped === 'string' ? { text: Buffer.from(mapped) } : mapped;
  });
  const formats = parameters.map((parameter) =>
    parameter === null || 'text' in parameter ? 0 : binaryFormat,
  );
  const body: Uint8Array[] = [
    Buffer.from(`${portal}\0${statement}\0`),
    int16s(parameters.length, ...formats, parameters.length),
  ];
  for (const parameter of parameters) body.push(...withLength(parameter));
  body.push(int16s(1, binary ? binaryFormat : 0));
  const length = body.reduce((sum, bytes) => sum + bytes.length, 0);
  return [Buffer.from('B'), int32(length + 4), ...body];
};

const withLength = (parameter: LongParameter | Buffer | { text: Buffer } | null): readonly Uint8Array[] => {
  if (parameter === null) return [int32(nullLength)];
  if (parameter instanceof LongParameter) return [int32(parameter.length), ...parameter.pieces];
  const bytes = 'text' in parameter ? parameter.text : parameter;
  return [int32(bytes.length), bytes];
};

const int16s = (...numbers: number[]): Buffer => {
  const bytes = Buffer.alloc(numbers.length * 2);
  for (const [index, number] of numbers.entries()) bytes.writeInt16BE(number, index * 2);
  return bytes;
};

const int32 = (number: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(number);
  return bytes;
};
