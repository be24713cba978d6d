// The script and the styles of the pages, each as one file.
import { build } from 'esbuild';

export const bundleBrowserCode = async (): Promise<{ script: string; style: string }> => {
  const { outputFiles } = await build({
    absWorkingDir: import.meta.dirname,
    entryPoints: ['browser/guide.ts', 'browser/guide.css'],
    outdir: '.',
    write: false,
    bundle: true,
    minify: true,
    // No module: browsers load those from a server only, and the pages can be opened as files too.
    format: 'iife',
    target: 'es2022',
    logLevel: 'warning',
  });
  const textOf = (ending: string): string =>
    outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? '';
  return { script: textOf('.js'), style: textOf('.css') };
};
