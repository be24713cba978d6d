// npm run new-key -- <team> <name> [service]: creates a key, adds its hash to team-keys.json, and prints the key once.
import { readFileSync, writeFileSync } from 'node:fs';
import { newKey, type TeamKey } from './team-keys.ts';

const [team, name, kind = 'person'] = process.argv.slice(2);
if (!team || !name || (kind !== 'person' && kind !== 'service')) {
  console.error('Usage: npm run new-key -- <team> <name> [person|service]');
  process.exit(1);
}
const file = new URL('team-keys.json', import.meta.url);
const { key, row } = newKey({ team, name, kind });
const rows = JSON.parse(readFileSync(file, 'utf8')) as TeamKey[];
writeFileSync(file, `${JSON.stringify([...rows, row], null, 2)}\n`);
console.log(key);
