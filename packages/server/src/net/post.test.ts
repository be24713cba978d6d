import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSocketServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { scaled } from '../../test/speed.ts';
import { EgressGuard } from './guard.ts';
import { post, PostTimeout } from './post.ts';

const open: { server: Server; sockets: Set<Socket> }[] = [];
afterEach(async () => {
  for (const { server, sockets } of open.splice(0)) {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  }
});

const listen = async (server: Server): Promise<string> => {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  open.push({ server, sockets });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
};

const serve = (listener: RequestListener): Promise<string> => listen(createServer(listener));
const guard = new EgressGuard([{ host: '127.0.0.1', port: undefined }]);
const limits = { timeoutMs: scaled(5_000), responseBytesMax: 65_536 };
const send = (url: string, given = {}) =>
  post(guard.check(url), '{"a":"é"}', { 'x-mine': '1' }, { ...limits, ...given });

describe('a post', () => {
  it('sends body and headers, and returns the status', async () => {
    const url = await serve((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        const { 'x-mine': mine, 'content-length': length } = request.headers;
        response.writeHead(body === '{"a":"é"}' && mine === '1' && length === '10' ? 201 : 400).end('thanks');
      });
    });
    expect(await send(url)).toEqual({ status: 201 });
  });

  it('does not follow redirects', async () => {
    let requests = 0;
    const url = await serve((_, response) => {
      requests += 1;
      response.writeHead(307, { location: '/elsewhere' }).end();
    });
    expect(await send(url)).toEqual({ status: 307 });
    expect(requests).toBe(1);
  });

  it('reads no more of a response than necessary', async () => {
    let sent = 0;
    let closed: Promise<unknown> | undefined;
    const url = await serve((_, response) => {
      closed = once(response, 'close');
      const chunk = Buffer.alloc(65_536);
      const pump = (): void => {
        if (response.destroyed || sent > 100 * 1024 * 1024) return;
        sent += chunk.length;
        response.write(chunk, pump);
      };
      response.writeHead(200);
      pump();
    });
    expect(await send(url)).toEqual({ status: 200 });
    await closed;
    expect(sent).toBeLessThan(20 * 1024 * 1024);
  });

  it('times out when the server accepts and sends nothing', async () => {
    const url = await listen(createSocketServer(() => undefined));
    await expect(send(url, { timeoutMs: 50 })).rejects.toThrow(PostTimeout);
  });

  it('returns the status of a response that never ends', async () => {
    const url = await serve((_, response) => void response.writeHead(200).write('x'));
    expect(await send(url, { timeoutMs: scaled(500) })).toEqual({ status: 200 });
  });

  it('fails on a port without a listener, and on a connection that closes', async () => {
    const url = await listen(createSocketServer((socket) => socket.destroy()));
    await expect(send(url)).rejects.toThrow();
    await expect(send('http://127.0.0.1:1/')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('fails on a response that is not HTTP, or switches protocols', async () => {
    const garbage = await listen(createSocketServer((socket) => socket.end('SSH-2.0-x\r\n')));
    await expect(send(garbage)).rejects.toThrow();
    const upgrade = await listen(
      createSocketServer((socket) =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
      ),
    );
    await expect(send(upgrade)).rejects.toThrow(/without a response|hang up/);
  });

  it('is aborted by its signal, also during name resolution', async () => {
    const never = new EgressGuard([], () => new Promise(() => undefined));
    const stop = new AbortController();
    const sending = post(never.check('https://example.com/'), '{}', {}, { ...limits, signal: stop.signal });
    stop.abort();
    await expect(sending).rejects.toThrow('was aborted');
    await expect(send('http://127.0.0.1:1/', { signal: stop.signal })).rejects.toThrow('was aborted');
    await expect(
      post(never.check('https://example.com/'), '{}', {}, { ...limits, timeoutMs: 20 }),
    ).rejects.toThrow(PostTimeout);
  });

  it('does not connect when the name resolves to a forbidden address', async () => {
    let connections = 0;
    const server = createSocketServer(() => (connections += 1));
    const { port } = new URL(await listen(server));
    const flipping = new EgressGuard([], () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]));
    const target = flipping.check(`http://rebind.test:${port}/`, { ports: [Number(port)] });
    await expect(post(target, '{}', {}, limits)).rejects.toThrow('requests are forbidden');
    expect(connections).toBe(0);
  });
});
