// Type-checks all ts blocks in one program. A block may use names that the text around it introduces: they are declared here.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { repository, type Block } from './pages.ts';

/** Types of the names that blocks use without declaring them. */
const declared: Record<string, string> = {
  auth: "import('@svc/sdk/auth').Auth",
  client: "ReturnType<typeof import('@svc/sdk').createClient>",
  platform: "ReturnType<typeof import('@svc/sdk').createPlatformClient>",
  threadId: 'string',
  runId: 'string',
  input: '{ messages: { role: string; content: string }[] }',
  bulk_export_destination_id: 'string',
  session_id: 'string',
  start_time: 'string',
  end_time: 'string',
  project: '{ id: string }',
  calendarUrl: 'string',
  svc: "Awaited<ReturnType<typeof import('@svc/server').createSvcHandler>>",
  expect: "typeof import('vitest').expect",
};

const withDeclarations = (code: string): string => {
  const bare = code.replaceAll(/'[^'\n]*'/g, "''");
  const names = Object.keys(declared).filter(
    (name) =>
      new RegExp(`(?<![.\\w])${name}\\b(?!\\s*:)`).test(bare) &&
      !new RegExp(`(?:const|let|import)[^;=]*\\b${name}\\b`).test(bare),
  );
  return [...names.map((name) => `declare const ${name}: ${declared[name]};`), code, 'export {};'].join('\n');
};

const libraries = (): string[] => {
  const config = readFileSync(join(repository, 'tsconfig.json'), 'utf8');
  return (JSON.parse(config) as { compilerOptions: { lib: string[] } }).compilerOptions.lib;
};

/** The messages of the compiler; empty when everything is right. */
export const typeErrors = async (blocks: readonly Block[]): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-docs-types-'));
  try {
    symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'));
    for (const { at, code } of blocks)
      writeFileSync(join(folder, `${at.replaceAll(/[/:]/g, '-')}.ts`), withDeclarations(code));
    // The rules of a new project. The sources of the packages, which tarballs replace by declarations, need exactOptionalPropertyTypes and
    // the libraries of this repository.
    const compilerOptions = {
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: true,
      allowImportingTsExtensions: true,
      target: 'es2023',
      lib: libraries(),
      module: 'nodenext',
      types: ['node'],
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
    const child = spawn(join(repository, 'node_modules/.bin/tsc'), ['--noEmit', '-p', folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    return await text(child.stdout);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
