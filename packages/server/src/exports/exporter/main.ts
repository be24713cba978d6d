// Entry of an exporter process.
import { serveExports } from './serve.ts';

serveExports();
