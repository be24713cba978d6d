import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { loadSvcJson } from './svc-json.ts';
import { testFolder } from '../../../test/folders.ts';

let dir: string;
beforeEach(() => {
  dir = testFolder();
  writeFileSync(join(dir, 'agent.ts'), 'export const graph = 1;');
  writeFileSync(join(dir, 'embed.ts'), 'export const embed = 1;');
});

const read = (index: unknown, name = 'svc.json') => {
  const file = join(dir, name);
  writeFileSync(file, JSON.stringify({ graphs: { agent: './agent.ts:graph' }, store: { index } }));
  return loadSvcJson(file, {});
};

const install = (name: string): void => {
  mkdirSync(join(dir, 'node_modules', name), { recursive: true });
  writeFileSync(join(dir, 'node_modules', name, 'package.json'), JSON.stringify({ name }));
};

describe('store.index', () => {
  it('names a function, and the whole value unless fields are given', () => {
    const embed = { kind: 'export', file: join(dir, 'embed.ts'), export: 'embed' };
    expect(read({ dims: 3, embed: './embed.ts:embed' }).storeIndex).toEqual({
      dims: 3,
      fields: ['$'],
      embedName: './embed.ts:embed',
      embed,
    });
    const fields = ['title', 'parts[*].text'];
    expect(read({ dims: 3, embed: './embed.ts:embed', fields }).storeIndex).toMatchObject({ fields });
    expect(read({ dims: 3, embed: './embed.ts:embed' }).warnings).toEqual([]);
  });

  it('names the model of a provider whose package the project has', () => {
    install('@langchain/openai');
    install('@langchain/google-genai');
    expect(read({ dims: 256, embed: 'openai:text-embedding-3-small' }, 'langgraph.json').storeIndex).toEqual({
      dims: 256,
      fields: ['$'],
      embedName: 'openai:text-embedding-3-small',
      embed: {
        kind: 'provider',
        dir,
        package: '@langchain/openai',
        className: 'OpenAIEmbeddings',
        options: { model: 'text-embedding-3-small', dimensions: 256 },
      },
    });
    expect(read({ dims: 768, embed: 'google-genai:models/x:1' }).storeIndex?.embed).toMatchObject({
      className: 'GoogleGenerativeAIEmbeddings',
      options: { model: 'models/x:1' },
    });
  });

  it.each<[string, unknown, RegExp]>([
    [
      'a package that is not installed',
      { dims: 3, embed: 'openai:x' },
      /needs the package @langchain\/openai, which is not installed/,
    ],
    [
      'an unknown provider',
      { dims: 3, embed: 'opena:x' },
      /there is no provider "opena"; did you mean "openai"/,
    ],
    [
      'an inherited name as provider',
      { dims: 3, embed: 'constructor:x' },
      /there is no provider "constructor"/,
    ],
    ['a file that does not exist', { dims: 3, embed: './none.ts:embed' }, /there is no file/],
    ['no export', { dims: 3, embed: './embed.ts' }, /names no export/],
    ['no dims', { embed: './embed.ts:embed' }, /store.index.dims: must be a whole number from 1 to 8192/],
    ['0 dimensions', { dims: 0, embed: './embed.ts:embed' }, /must be a whole number from 1 to 8192/],
    [
      'too many dimensions',
      { dims: 8_193, embed: './embed.ts:embed' },
      /must be a whole number from 1 to 8192/,
    ],
    ['no embed', { dims: 3 }, /store.index.embed: must be a text/],
    [
      'a misspelt key',
      { dims: 3, embed: './embed.ts:embed', field: ['$'] },
      /unknown key "field"; did you mean "fields"/,
    ],
    ['no paths', { dims: 3, embed: './embed.ts:embed', fields: [] }, /must name at least one path/],
    [
      'a path that cannot be parsed',
      { dims: 3, embed: './embed.ts:embed', fields: ['a', 'b['] },
      /store.index.fields.1: .*has "\[" without/,
    ],
    ['a text', 'openai:x', /must be an object such as/],
  ])('with %s is a mistake', (_, index, sentence) => {
    expect(() => read(index)).toThrow(sentence);
  });
});
