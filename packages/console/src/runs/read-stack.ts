// The stacks of an error and of its causes, as the server stores them in one text.

/** Successive lines of the project, or successive frames of libraries. */
export interface StackPart {
  isLibrary: boolean;
  lines: string[];
}

export interface StackOf {
  /** Class and message. */
  head: string;
  parts: StackPart[];
}

const isFrame = (line: string): boolean => /^\s+at /.test(line);
const isLibrary = (line: string): boolean =>
  isFrame(line) && /node_modules[/\\]|\bnode:|<anonymous>|^\s+at (?:new Promise|Array\.)/.test(line);

/** `head`: class and message of the error, which may have several lines. */
export const readStack = (stack: string, head: string): StackOf[] =>
  stack.split(/\n[Cc]aused by:? /).map((text, index) => {
    const lines = text.split('\n');
    const first = lines.findIndex(isFrame);
    const isPython = index === 0 && text.startsWith('Traceback ');
    if (isPython) return { head, parts: partsOf(lines) };
    const own = first === -1 ? lines.length : first;
    return { head: lines.slice(0, own).join('\n'), parts: partsOf(lines.slice(own)) };
  });

const partsOf = (lines: readonly string[]): StackPart[] => {
  const parts: StackPart[] = [];
  for (const line of lines) {
    const last = parts.at(-1);
    if (last?.isLibrary === isLibrary(line)) last.lines.push(line);
    else parts.push({ isLibrary: isLibrary(line), lines: [line] });
  }
  return parts;
};
