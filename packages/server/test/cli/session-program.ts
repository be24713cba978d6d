// Executes command lines of the program at argv[2], one after the other, each as if in a process of its own: with its own folder,
// environment, output and exit code. session.ts sends them.
export interface CommandLine {
  /** The argument of the program's `main`. */
  args: string[];
  cwd: string;
  env: Record<string, string>;
}

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

type Write = typeof process.stdout.write;

const { main } = (await import(process.argv[2] ?? '')) as { main: (args: string[]) => Promise<void> };

const execute = async ({ args, cwd, env }: CommandLine): Promise<Ended> => {
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    process[name].write = ((chunk: string | Uint8Array) => {
      output[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
      return true;
    }) as Write;
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.exitCode = 0;
  try {
    process.chdir(cwd);
    await main(args);
  } catch (error) {
    process.exitCode = 1;
    output.stderr += String(error);
  }
  // Each command line adds its listener.
  process.stdout.removeAllListeners('error');
  return { code: Number(process.exitCode), ...output };
};

process.on('message', (line: CommandLine) => {
  void execute(line).then((ended) => process.send?.(ended));
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
