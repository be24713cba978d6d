// A repository with the pages that every site needs, and further files, in a temporary folder.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const needed = {
  'README.md':
    '# svc\n\nThe start.\n\n| page | content |\n|---|---|\n| [first steps](docs/first.md) | all |\n',
  'CHANGELOG.md': '# Changelog\n',
  'CONTRIBUTING.md': '# Contributing\n\n## Rules\n',
  'ARCHITECTURE.md': '# Architecture\n',
  'bench/claims.md': '# Claims\n',
  'docs/first.md': '# First steps\n',
  'packages/server/package.json': '{"version": "7.8.9"}',
};

export class SmallRepository implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'svc-docs-site-'));

  /** By path; they replace the needed ones. */
  constructor(files: Record<string, string> = {}) {
    for (const [path, content] of Object.entries({ ...needed, ...files })) {
      mkdirSync(dirname(join(this.path, path)), { recursive: true });
      writeFileSync(join(this.path, path), content);
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true });
  }
}
