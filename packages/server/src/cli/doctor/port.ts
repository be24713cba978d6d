// The port of the server: it is free, or the server of this data folder listens there.
import { assertBindable } from '../../http/server/bind.ts';
import { announcedIn } from '../../http/server/address-file.ts';
import { ok, type Outcome, problem } from './finding.ts';

export const checkPort = async (
  { host, port }: { host: string; port: number },
  dataDir: string,
): Promise<Outcome> => {
  try {
    await assertBindable(host, port);
  } catch (error) {
    const announced = announcedIn(dataDir);
    if (announced !== undefined && Number(new URL(announced).port) === port)
      return ok(`The server of this data folder listens at ${announced}.`);
    return problem(
      `A server cannot listen on port ${port} of ${host}. ${(error as Error).message}`,
      'Choose another port with --port or SVC_PORT, or another address with --host.',
    );
  }
  return ok(port === 0 ? 'The server takes any free port.' : `Port ${port} of ${host} is free.`);
};
