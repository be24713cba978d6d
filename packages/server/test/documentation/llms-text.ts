// docs/llms.txt: what language models read about the server (https://llmstxt.org). Derived from the README.

/** `readme`: the text of README.md, with the table of pages under the heading Documentation. */
export const llmsText = (readme: string): string => {
  const [, title = '', summary = ''] = /^# (.+)\n\n([\s\S]+?)\n\n/.exec(readme) ?? [];
  const [, documentation = ''] = /^## Documentation\n([\s\S]+?)^## /m.exec(readme) ?? [];
  const pages = [...documentation.matchAll(/^\| \[([^\]]+)\]\(docs\/([^)]+)\) \| (.+) \|$/gm)];
  const lines = pages.map(([, name, file, content]) => `- [${name}](${file}): ${content}`);
  return `# ${title}

> ${summary.replaceAll('\n', ' ')}

The API of a running server is described at \`/openapi.json\`. \`npx svc --help\` lists the commands.

## Pages

${lines.join('\n')}
`;
};
