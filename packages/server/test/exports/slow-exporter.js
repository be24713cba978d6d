// The exporter of plans, whose start takes until the plan says go.
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

while (!existsSync(`${process.env['SVC_TEST_EXPORTER_PLAN']}/go`)) await sleep(5);
await import(new URL('./planned-exporter.js', import.meta.url).href);
