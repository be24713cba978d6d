// svc dockerfile and svc build: what they print and write. deploy/test/image runs the commands of the Dockerfile.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readImageProject } from '../../../src/cli/image/image-project.ts';
import { dockerfileOf } from '../../../src/cli/image/dockerfile.ts';
import { writeContext } from '../../../src/cli/commands/image.ts';
import { openSvcSession } from '../session.ts';
import { createImageSample, npmLock } from './image-sample.ts';
import { fixture } from '../../fixture.ts';

const session = fixture(() => openSvcSession());

const dockerfileIn = (dir: string, config?: string): string => dockerfileOf(readImageProject(dir, config));

describe('svc dockerfile', () => {
  it('prints the Dockerfile of deploy/ for a project with npm, and warns without a .dockerignore', async () => {
    using project = createImageSample(npmLock);
    const { code, stdout, stderr } = await session.run(['dockerfile'], { cwd: project.dir });
    const file = fileURLToPath(new URL('../../../../../deploy/Dockerfile', import.meta.url));
    expect(stdout).toBe(readFileSync(file, 'utf8'));
    expect(stderr).toContain('has no .dockerignore');
    expect(code).toBe(0);
    const ignored = await session.run(['dockerfile', '--dockerignore'], { cwd: project.dir });
    expect(ignored.stdout.split('\n')).toContain('**/.env');
    project.write('.dockerignore', ignored.stdout);
    expect((await session.run(['dockerfile'], { cwd: project.dir })).stderr).toBe('');
  });

  it.each([
    ['pnpm-lock.yaml', "lockfileVersion: '9.0'\n", ['pnpm@10', 'pnpm install --frozen-lockfile --prod']],
    ['yarn.lock', '# yarn lockfile v1\n', ['yarn@1.22.22', 'yarn install --frozen-lockfile --production']],
    [
      'yarn.lock',
      '__metadata:\n',
      ['cli-dist@4', 'YARN_NODE_LINKER=node-modules', 'yarn install --immutable'],
    ],
    ['npm-shrinkwrap.json', '{}', ['npm ci --omit=dev', 'npm sbom']],
  ])('installs the packages of %s', (lock, text, parts) => {
    using project = createImageSample({ [lock]: text });
    const dockerfile = dockerfileIn(project.dir);
    for (const part of [...parts, `COPY package.json ${lock} ./`]) expect(dockerfile).toContain(part);
  });

  it('takes the version of the package manager from package.json', () => {
    using project = createImageSample({
      'pnpm-lock.yaml': '',
      'package.json': { dependencies: { '@svc/server': '0.1.0' }, packageManager: 'pnpm@10.5.2+sha512.aa' },
    });
    expect(dockerfileIn(project.dir)).toContain('--global pnpm@10.5.2\n');
  });

  it('uses the port, the version of Node and the lines of the config file, and creates its empty file of variables', () => {
    using project = createImageSample({
      ...npmLock,
      'svc.prod.json': {
        graphs: { agent: './agent.ts:graph' },
        env: '.env',
        node_version: '22',
        dockerfile_lines: ['RUN apt-get update'],
        settings: { port: 8080 },
      },
    });
    const dockerfile = dockerfileIn(project.dir, 'svc.prod.json');
    expect(dockerfile).toMatch(/^FROM node:22-slim AS base\nRUN apt-get update\n/m);
    expect(dockerfile).toContain('EXPOSE 8080\n');
    expect(dockerfile).toContain('COPY . .\nRUN touch ".env"\n');
    expect(dockerfile).toContain('CMD ["start","--config","svc.prod.json"]\n');
    expect(dockerfile).toContain('"health","--config","svc.prod.json"]\n');
  });

  it('copies the whole repository when the lock file is in a folder above', () => {
    using project = createImageSample({
      ...npmLock,
      'package.json': { workspaces: ['agents/*'] },
      'agents/shop/package.json': { dependencies: { '@svc/server': '0.1.0' } },
      'agents/shop/svc.json': { graphs: { agent: './agent.ts:graph' } },
      'node_modules/@svc/server/bin/svc.js': '',
    });
    const dockerfile = dockerfileIn(project.dir, 'agents/shop');
    expect(dockerfile).toContain('WORKDIR /app\nCOPY . .\nRUN --mount');
    expect(dockerfile).toContain('WORKDIR /app/agents/shop\n');
    expect(dockerfile).toContain('ENTRYPOINT ["node","/app/node_modules/@svc/server/bin/svc.js"]');
  });

  it('does not use the lock file of another package above the project', () => {
    using project = createImageSample({
      ...npmLock,
      'agents/shop/package.json': { dependencies: { '@svc/server': '0.1.0' } },
      'agents/shop/svc.json': { graphs: { agent: './agent.ts:graph' } },
    });
    expect(() => dockerfileIn(project.dir, 'agents/shop')).toThrow('there is no lock file');
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['there is no lock file', {}, 'there is no lock file'],
    ['the server is no dependency', { ...npmLock, 'package.json': {} }, 'does not depend on @svc/server'],
    [
      'a dependency is a folder outside of the project',
      { ...npmLock, 'package.json': { dependencies: { '@svc/server': '0.1.0', tools: 'file:../tools' } } },
      'folders that an image build does not see',
    ],
    ['the config file is not JSON', { ...npmLock, 'svc.json': '{' }, 'svc.json'],
  ])('fails with the reason when %s', async (_, files, message) => {
    using project = createImageSample(files);
    const { code, stdout, stderr } = await session.run(['dockerfile'], { cwd: project.dir });
    expect(stderr).toContain(message);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  });
});

describe('svc build', () => {
  const withTarball = (spec: string) => ({
    'package.json': { dependencies: { '@svc/server': spec } },
    'package-lock.json': { packages: { 'node_modules/@svc/server': { resolved: spec } } },
  });

  it('copies the project without secrets and packages, and tarballs from outside of it', async () => {
    using outside = createImageSample({ 'svc-server-0.1.0.tgz': 'packed' });
    using project = createImageSample({
      ...withTarball(`file:${outside.dir}/svc-server-0.1.0.tgz`),
      '.env': 'KEY=secret',
      '.npmrc': '//registry:_authToken=secret',
      'src/.env.local': 'KEY=secret',
      'src/tools.ts': 'export {};',
      'node_modules/x/index.js': '',
    });
    const { code, stdout } = await session.run(['build'], { cwd: project.dir });
    expect(stdout).toContain('docker build --tag my-agent .svc/image');
    expect(code).toBe(0);
    const context = join(project.dir, '.svc/image');
    expect(new Set(readdirSync(context, { recursive: true, encoding: 'utf8' }))).toEqual(
      new Set([
        '.dockerignore',
        'Dockerfile',
        'agent.ts',
        'package-lock.json',
        'package.json',
        'src',
        'src/tools.ts',
        'svc.json',
        'tarballs',
        'tarballs/svc-server-0.1.0.tgz',
      ]),
    );
    for (const name of ['package.json', 'package-lock.json'])
      expect(readFileSync(join(context, name), 'utf8')).toContain('"file:tarballs/svc-server-0.1.0.tgz"');
    expect(readFileSync(join(context, 'Dockerfile'), 'utf8')).toContain('COPY tarballs ./tarballs\n');
  });

  it('writes the new path of a tarball wherever a lock file of yarn has it', async () => {
    using outside = createImageSample({ 'a.tgz': 'packed' });
    const path = join(outside.dir, 'a.tgz');
    using project = createImageSample({
      'package.json': { dependencies: { '@svc/server': `file:${path}` } },
      'yarn.lock': `"a@file:${path}::locator=x":\n  resolution: "a@file:${path}#${path}::hash=1&locator=x"\n`,
    });
    const output = join(project.dir, 'out');
    await writeContext(readImageProject(project.dir, undefined), output, undefined);
    expect(readFileSync(join(output, 'yarn.lock'), 'utf8')).toBe(
      '"a@file:tarballs/a.tgz::locator=x":\n  resolution: "a@file:tarballs/a.tgz#tarballs/a.tgz::hash=1&locator=x"\n',
    );
  });

  it('svc dockerfile refuses such a project, because the image build does not see the tarballs', async () => {
    using outside = createImageSample({ 'a.tgz': 'packed' });
    using project = createImageSample(withTarball(`file:${outside.dir}/a.tgz`));
    expect(await session.run(['dockerfile'], { cwd: project.dir })).toMatchObject({ code: 1 });
  });

  it('replaces an earlier context, and refuses a folder with anything else', async () => {
    using project = createImageSample({ ...npmLock, 'old.ts': '' });
    using other = createImageSample();
    const output = join(project.dir, 'out');
    await writeContext(readImageProject(project.dir, undefined), output, undefined);
    project.write('new.ts', '');
    await writeContext(readImageProject(project.dir, undefined), output, 'mirror.local/node:24-slim');
    expect(existsSync(join(output, 'new.ts'))).toBe(true);
    expect(existsSync(join(output, 'out'))).toBe(false);
    expect(readFileSync(join(output, 'Dockerfile'), 'utf8')).toContain('FROM mirror.local/node:24-slim AS');
    for (const folder of [other.dir, project.dir, join(project.dir, '..')])
      await expect(writeContext(readImageProject(project.dir, undefined), folder, undefined)).rejects.toThrow(
        '--output',
      );
    expect(existsSync(join(other.dir, 'svc.json'))).toBe(true);
  });
});
