// A process that holds the embedded PostgreSQL open. Prints `up <postmaster pid>` when it is up; inserts rows forever and prints each
// committed id; ends on a line of input, or at the end of the input.
import pg from 'pg';
import { openEmbedded } from '../../src/storage/embedded/embedded.ts';

const [dataDir = '', write] = process.argv.slice(2);
const embedded = await openEmbedded({ dataDir });
process.stdout.write(`up ${embedded.pid}\n`);
const leave = (): void => void embedded[Symbol.asyncDispose]().then(() => process.exit(0));
process.stdin.once('data', leave).once('end', leave);

if (write) {
  const client = new pg.Client(embedded.connection);
  await client.connect();
  await client.query('create table if not exists acked (id bigserial primary key)');
  for (;;) {
    const { rows } = await client.query<{ id: string }>('insert into acked default values returning id');
    process.stdout.write(`row ${rows[0]?.id}\n`);
  }
}
