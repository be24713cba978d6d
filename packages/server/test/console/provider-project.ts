// Writes a project with `console.auth` of the kind oidc.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { clientId } from './provider.ts';

export interface ProviderProject extends AsyncDisposable {
  folder: string;
  /** Its svc.json. */
  file: string;
}

/** `graphs`: absolute paths by id. The auth module trusts the provider at TEST_ISSUER. */
export const providerProject = async (
  issuer: string,
  graphs: Record<string, string>,
): Promise<ProviderProject> => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-oidc-'));
  const from = (path: string): string => `./${relative(folder, path)}`;
  const file = join(folder, 'svc.json');
  const content = {
    graphs: Object.fromEntries(Object.entries(graphs).map(([id, path]) => [id, from(path)])),
    auth: { path: from(join(import.meta.dirname, 'provider-project', 'auth.ts:auth')) },
    console: { auth: { kind: 'oidc', issuer, client_id: clientId } },
  };
  await writeFile(file, JSON.stringify(content));
  return { folder, file, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
};
