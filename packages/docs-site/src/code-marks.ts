// Marks comments, strings and keywords in samples. No grammar: the samples are short, and a highlighter would be the largest dependency.
import type { ElementContent } from 'hast';
import { element } from './element.ts';

const strings = String.raw`"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'`;
const scriptWords =
  'async|await|class|const|default|else|export|extends|false|for|from|function|if|import|in|interface|let|new|null|of|return|throw|true|try|catch|type|undefined|using';
const sqlWords =
  'all|and|as|by|desc|from|group|limit|not|on|or|order|select|where|with|join|max|min|sum|count|create|table|insert|into|values';
const python = 'async|await|def|for|from|import|in|None|return|True|False|with|as|class|if|else';

/** One group for each kind. A comment begins at the start of a word, so that `#` in an address is none. */
const grammar = (comment: string, words: string, flags = ''): RegExp =>
  new RegExp(
    String.raw`(?<comment>${comment})|(?<string>${strings})|(?<keyword>\b(?:${words})\b)`,
    `gm${flags}`,
  );

const shell = grammar(String.raw`(?<=^|\s)#.*$`, 'for|in|do|done|if|then|fi|export');
const script = grammar(String.raw`//.*$|/\*[^]*?\*/`, scriptWords);
const grammars: Record<string, RegExp> = {
  sh: shell,
  yaml: grammar(String.raw`(?<=^|\s)#.*$`, 'true|false|null'),
  python: grammar('#.*$', python),
  sql: grammar('--.*$', sqlWords, 'i'),
  json: grammar(String.raw`(?<=^|\s)//.*$`, 'true|false|null'),
  ts: script,
  tsx: script,
};

export const markCode = (language: string, code: string): ElementContent[] => {
  const pattern = grammars[language];
  if (!pattern) return [{ type: 'text', value: code }];
  const parts: ElementContent[] = [];
  let end = 0;
  for (const match of code.matchAll(pattern)) {
    if (match.index > end) parts.push({ type: 'text', value: code.slice(end, match.index) });
    const [kind = ''] = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined) ?? [];
    parts.push(element('span', { className: [kind] }, match[0]));
    end = match.index + match[0].length;
  }
  if (end < code.length) parts.push({ type: 'text', value: code.slice(end) });
  return parts;
};
