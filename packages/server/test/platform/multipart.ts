// Bodies of multipart requests, as tracers send them.
export const boundary = 'xYz';

export const multipartType = `multipart/form-data; boundary=${boundary}`;

export const part = (name: string, content: string | Buffer, type?: string): Buffer =>
  Buffer.concat([
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n${type === undefined ? '' : `Content-Type: ${type}\r\n`}\r\n`,
    ),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);

export const end = Buffer.from(`--${boundary}--\r\n`);
