import { createSvcHandler } from '@svc/server';
import { createProgram, options } from './program.ts';

const port = 3000;
const svc = await createSvcHandler({ ...options, url: `http://127.0.0.1:${port}/agents` });
const server = createProgram(svc).listen(port, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${port}`);
});

const stop = async (): Promise<void> => {
  server.close();
  await svc.drain();
  server.closeAllConnections();
  await svc.close();
};
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop());
