export type PackageManager = 'npm' | 'pnpm' | 'yarn';

/** The package manager that started this program: `npx`, `pnpm dlx` and `yarn dlx` say so in `npm_config_user_agent`. */
export const packageManager = (userAgent: string | undefined): PackageManager => {
  const [name] = userAgent?.split('/') ?? [];
  return name === 'pnpm' || name === 'yarn' ? name : 'npm';
};

/** How a script of package.json is run: `npm run dev`, `pnpm dev`, `yarn dev`. */
export const runCommand = (manager: PackageManager, script: string): string =>
  manager === 'npm' ? `npm run ${script}` : `${manager} ${script}`;
