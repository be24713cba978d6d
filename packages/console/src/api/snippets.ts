// A call of the API as programs make it: with curl, and in TypeScript and Python with the SDK of LangGraph, where that has the call.
import type { ConsoleSession } from '@svc/sdk';

export interface ApiCall {
  method: 'GET' | 'POST';
  path: string;
  body?: Record<string, unknown> | undefined;
  /** The method of the SDK with its arguments. Its options are the fields of the body, except those that are arguments. */
  sdk?: { name: string; args: readonly (string | null)[]; options?: Record<string, unknown> };
  /** The call needs the key of a workspace. */
  isPlatform?: boolean;
}

export interface Snippet {
  language: 'curl' | 'TypeScript' | 'Python';
  text: string;
}

type SignIn = ConsoleSession['sign_in'];

interface Credential {
  header: string;
  prefix: string;
  /** The environment variable that has the secret. */
  variable: string;
}

const credentialOf = ({ kind, header }: SignIn, isPlatform: boolean): Credential | undefined => {
  if (isPlatform) return { header: 'x-api-key', prefix: '', variable: 'SVC_PLATFORM_API_KEY' };
  if (kind === 'none') return undefined;
  if (kind === 'key') return { header: 'x-api-key', prefix: '', variable: 'SVC_API_KEY' };
  if (kind === 'header' && header !== null) return { header, prefix: '', variable: 'TOKEN' };
  return { header: 'authorization', prefix: 'Bearer ', variable: 'TOKEN' };
};

export const snippetsOf = (call: ApiCall, apiUrl: string, signIn: SignIn): Snippet[] => {
  const credential = credentialOf(signIn, call.isPlatform === true);
  const context = { url: apiUrl, credential };
  return [
    { language: 'curl', text: curl(call, context) },
    { language: 'TypeScript', text: typeScript(call, context) },
    { language: 'Python', text: python(call, context) },
  ];
};

interface Context {
  url: string;
  credential: Credential | undefined;
}

/** The text as one argument of a shell command: nothing in single quotes is expanded. */
export const shellArgument = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const curl = ({ method, path, body }: ApiCall, { url, credential }: Context): string =>
  [
    `curl -s${method === 'POST' && body === undefined ? ' -X POST' : ''} ${shellArgument(url + path)}`,
    ...(credential ? [`-H "${credential.header}: ${credential.prefix}$${credential.variable}"`] : []),
    ...(body === undefined
      ? []
      : ["-H 'content-type: application/json'", `-d ${shellArgument(JSON.stringify(body))}`]),
  ].join(' \\\n  ');

const typeScript = ({ method, path, body, sdk }: ApiCall, { url, credential }: Context): string => {
  const value = credential && `\`${credential.prefix}\${process.env.${credential.variable}}\``;
  const headers = credential ? [`${JSON.stringify(credential.header)}: ${value}`] : [];
  if (sdk) {
    const given = sdk.args.map((one) => JSON.stringify(one));
    const options = sdk.options && JSON.stringify(camelKeys(sdk.options), undefined, 2);
    const more = headers.length > 0 ? `, defaultHeaders: { ${headers.join()} }` : '';
    return [
      "import { Client } from '@langchain/langgraph-sdk';",
      '',
      `const client = new Client({ apiUrl: ${JSON.stringify(url)}${more} });`,
      `console.log(await client.${sdk.name}(${[...given, ...(options === undefined ? [] : [options])].join(', ')}));`,
    ].join('\n');
  }
  const lines = [
    `  method: '${method}',`,
    `  headers: { ${[...headers, ...(body ? ["'content-type': 'application/json'"] : [])].join(', ')} },`,
    ...(body ? [`  body: JSON.stringify(${JSON.stringify(body)}),`] : []),
  ];
  return `const response = await fetch(${JSON.stringify(url + path)}, {\n${lines.join('\n')}\n});\nconsole.log(await response.json());`;
};

const camelKeys = (options: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(options).map(([name, value]) => [
      name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );

const python = ({ method, path, body, sdk }: ApiCall, { url, credential }: Context): string => {
  const value = credential && `f"${credential.prefix}{os.environ['${credential.variable}']}"`;
  const headers = credential ? `, headers={${JSON.stringify(credential.header)}: ${value}}` : '';
  const imports = credential ? ['import os', ''] : [];
  if (sdk) {
    const snake = sdk.name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const options = Object.entries(sdk.options ?? {}).map(([name, one]) => `${name}=${literal(one)}`);
    return [
      ...imports,
      'from langgraph_sdk import get_sync_client',
      '',
      `client = get_sync_client(url=${JSON.stringify(url)}${headers})`,
      `print(client.${snake}(${[...sdk.args.map(literal), ...options].join(', ')}))`,
    ].join('\n');
  }
  const given = `${JSON.stringify(url + path)}${headers}${body ? `, json=${literal(body)}` : ''}`;
  return [...imports, 'import httpx', '', `print(httpx.${method.toLowerCase()}(${given}).json())`].join('\n');
};

/** A JSON value in Python: texts and numbers are written alike. */
const literal = (value: unknown): string => {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const entries = Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${literal(one)}`);
  return `{${entries.join(', ')}}`;
};
