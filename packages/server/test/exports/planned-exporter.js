// An exporter whose steps are noted, and that does at one of them what a test has planned.
import { register } from 'tsx/esm/api';

// As in bin/exporter.js.
await Promise.all([import('@aws-sdk/client-s3'), import('pg'), import('zod')]);
register();
await import(new URL('./planned-exporter-main.ts', import.meta.url).href);
