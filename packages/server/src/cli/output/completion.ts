// Completion scripts for shells, derived from the tree of commands. Scripts of libraries would start the CLI at every Tab.
import type { Command, Option } from 'commander';

export const shells = ['bash', 'zsh', 'fish'] as const;

/** A command with the words that may follow it. */
interface Entry {
  /** As typed: `svc keys create`. */
  path: string;
  /** Subcommands, and choices of an argument. */
  commands: { name: string; description: string }[];
  options: Option[];
}

export const completionScript = (program: Command, shell: (typeof shells)[number]): string =>
  ({ bash: bashScript, zsh: zshScript, fish: fishScript })[shell](entriesOf(program, program.name()));

function entriesOf(command: Command, path: string): Entry[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const choices = command.registeredArguments.flatMap(({ argChoices = [], description }) =>
    argChoices.map((name) => ({ name, description })),
  );
  const names = commands.map((each) => ({ name: each.name(), description: each.description() }));
  const entry = { path, commands: [...names, ...choices], options: help.visibleOptions(command) };
  return [entry, ...commands.flatMap((each) => entriesOf(each, `${path} ${each.name()}`))];
}

const flagsOf = ({ long, short }: Option): string[] => [long, short].filter((flag) => flag !== undefined);

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A `case` pattern with the paths of all commands but the program itself. */
const paths = (entries: readonly Entry[]): string =>
  entries
    .slice(1)
    .map(({ path }) => quote(path))
    .join('|');

const bashScript = (entries: readonly Entry[]): string => {
  const valued = entries.flatMap(({ options }) => options.filter(takesValue).flatMap(flagsOf));
  return `# Completion of svc for bash: source <(svc completion bash)
_svc() {
  local current="\${COMP_WORDS[COMP_CWORD]}" at=svc word words=
  case "\${COMP_WORDS[COMP_CWORD-1]}" in
    ${[...new Set(valued)].join('|')}) return ;;
  esac
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$at $word" in
      ${paths(entries)}) at="$at $word" ;;
    esac
  done
  case "$at" in
${entries.map(({ path, ...entry }) => `    ${quote(path)}) words=${quote(wordsOf(entry).join(' '))} ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _svc svc
`;
};

const takesValue = ({ required, optional }: Option): boolean => required || optional;

const wordsOf = ({ commands, options }: Omit<Entry, 'path'>): string[] => [
  ...commands.map(({ name }) => name),
  ...options.flatMap(flagsOf),
];

const zshScript = (entries: readonly Entry[]): string => `#compdef svc
# Completion of svc for zsh: source <(svc completion zsh)
_svc() {
  local at=svc word
  local -a candidates
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at $word" in
      (${paths(entries)}) at="$at $word" ;;
    esac
  done
  case "$at" in
${entries.map((entry) => `    (${quote(entry.path)}) candidates=(${described(entry)}) ;;`).join('\n')}
  esac
  _describe svc candidates || _files
}
compdef _svc svc
`;

const described = ({ commands, options }: Entry): string =>
  [
    ...commands.map(({ name, description }) => quote(`${name}:${description}`)),
    ...options.flatMap((option) => flagsOf(option).map((flag) => quote(`${flag}:${option.description}`))),
  ].join(' ');

const fishScript = (
  entries: readonly Entry[],
): string => `# Completion of svc for fish: svc completion fish | source
function __svc_at
  set -l at svc
  for word in (commandline -opc)[2..]
    switch "$at $word"
      case ${paths(entries).replaceAll('|', ' ')}
        set at "$at $word"
    end
  end
  test "$at" = "$argv[1]"
end
${entries.map(fishLines).join('\n')}
`;

const fishLines = ({ path, commands, options }: Entry): string => {
  const start = `complete -c svc -n ${quote(`__svc_at "${path}"`)}`;
  return [
    ...commands.map(({ name, description }) => `${start} -f -a ${name} -d ${fishQuote(description)}`),
    ...options.map((option) => {
      const short = option.short === undefined ? '' : ` -s ${option.short.slice(1)}`;
      const long = option.long === undefined ? '' : ` -l ${option.long.slice(2)}`;
      return `${start}${short}${long}${takesValue(option) ? ' -r' : ''} -d ${fishQuote(option.description)}`;
    }),
  ].join('\n');
};

/** In single quotes of fish, a backslash escapes a quote and a backslash. */
const fishQuote = (text: string): string => `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
