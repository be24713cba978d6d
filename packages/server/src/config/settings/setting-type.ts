// Types of settings: each parses, formats and validates the text form of a value. Codecs of zod would need the same functions, and a registry.
import { isAbsolute } from 'node:path';
import { type Cidr, formatCidrList, parseCidrList } from '../../net/cidr-list.ts';
import { type AllowedHost, formatHostList, parseHostList } from '../../net/host-list.ts';
import { parseOrigin } from './cors.ts';
import { parseDatabaseUri } from './database-uri.ts';
import { Secret, withoutPassword } from './secret.ts';
import { formatDuration, formatSize, parseDuration, parseSize } from './units.ts';

interface Fault {
  problem: string;
  remedy: string;
}

export interface SettingType<T> {
  /** For the table of settings: `duration`, `integer`. */
  name: string;
  secret: boolean;
  parse(text: string): { value: T } | Fault;
  format(value: T): string;
}

interface Parts<T> extends Fault {
  /** Undefined for a text that is no value of the type. */
  read: (text: string) => T | undefined;
  format?: (value: T) => string;
}

const typeOf = <T>(name: string, { read, format = String, ...fault }: Parts<T>): SettingType<T> => ({
  name,
  secret: false,
  parse: (text) => {
    const value = read(text);
    return value === undefined ? fault : { value };
  },
  format,
});

const secretOf = <T>(name: string, parts: Parts<T>): SettingType<T> => ({
  ...typeOf(name, parts),
  secret: true,
});

/** Adds limits to a type of numbers. */
const within = (
  type: SettingType<number>,
  min: number,
  max: number,
  remedy: string,
): SettingType<number> => ({
  ...type,
  parse: (text) => {
    const parsed = type.parse(text);
    if ('problem' in parsed || (parsed.value >= min && parsed.value <= max)) return parsed;
    return { problem: 'is out of range', remedy };
  },
});

/** Adds a word that stands for a value. */
const orWord = <V>(
  type: SettingType<number>,
  { word, value, remedy }: { word: string; value: V; remedy: string },
): SettingType<number | V> => ({
  name: `${type.name} | ${word}`,
  secret: false,
  parse: (text) => {
    if (text.toLowerCase() === word) return { value };
    const parsed = type.parse(text);
    return 'value' in parsed ? parsed : { ...parsed, remedy: `${parsed.remedy} ${remedy}` };
  },
  format: (given) => (given === value ? word : String(given)),
});

export const text = (name = 'text'): SettingType<string> =>
  typeOf(name, {
    read: (given) => (given === '' || given.includes('\0') ? undefined : given),
    problem: `is not a ${name}`,
    remedy: 'Give a text that is not empty, or leave it out.',
  });

/** A host name or an address; IPv6 also in brackets, as in URLs. */
export const hostName = (): SettingType<string> => {
  const type = text('host name');
  return { ...type, parse: (given) => type.parse(given.replace(/^\[(.*:.*)\]$/, '$1')) };
};

export const integer = ({ min, max }: { min: number; max: number }): SettingType<number> => {
  const remedy = `Give a whole number from ${min} to ${max}.`;
  const read = (given: string): number | undefined =>
    /^-?\d{1,16}$/.test(given) ? Number(given) : undefined;
  return within(typeOf('integer', { read, problem: 'is not a whole number', remedy }), min, max, remedy);
};

/** A whole number, or `none`: infinity. */
export const limit = (range: { min: number; max: number }): SettingType<number> =>
  orWord(integer(range), {
    word: 'none',
    value: Number.POSITIVE_INFINITY,
    remedy: 'Or none, for no limit at all.',
  });

/** A whole number, or `auto`. */
export const integerOrAuto = (range: { min: number; max: number }): SettingType<number | 'auto'> =>
  orWord(integer(range), { word: 'auto', value: 'auto' as const, remedy: 'Or auto.' });

export const boolean = (): SettingType<boolean> =>
  typeOf('boolean', {
    read: (given) => (given === 'true' || given === 'false' ? given === 'true' : undefined),
    problem: 'is neither true nor false',
    remedy: 'Write true or false.',
  });

export const duration = ({ minMs, maxMs }: { minMs: number; maxMs: number }): SettingType<number> => {
  const remedy = `Write a number and a unit (500ms, 30s, 2m, 4h, 1d), from ${formatDuration(minMs)} to ${formatDuration(maxMs)}.`;
  const parts = { read: parseDuration, format: formatDuration, problem: 'is not a duration', remedy };
  return within(typeOf('duration', parts), minMs, maxMs, remedy);
};

export const size = ({ minBytes, maxBytes }: { minBytes: number; maxBytes: number }): SettingType<number> => {
  const remedy = `Write a number and a unit (512b, 64kb, 20mb, 1gb), from ${formatSize(minBytes)} to ${formatSize(maxBytes)}.`;
  const parts = { read: parseSize, format: formatSize, problem: 'is not a size', remedy };
  return within(typeOf('size', parts), minBytes, maxBytes, remedy);
};

/** `spellings` maps the words of other tools to options. */
export const oneOf = <const T extends string>(
  options: readonly T[],
  spellings: Readonly<Record<string, T>> = {},
): SettingType<T> => {
  const words = new Map<string, T>([
    ...options.map((option) => [option, option] as const),
    ...Object.entries(spellings),
  ]);
  return typeOf(options.join(' | '), {
    read: (given) => words.get(given.toLowerCase()),
    problem: 'is not one of the choices',
    remedy: `Choose one of: ${options.join(', ')}.`,
  });
};

export const databaseUri = (): SettingType<Secret> => ({
  name: 'PostgreSQL URI',
  secret: true,
  parse: (given) => {
    // A secret that is read from a file often ends with a line break.
    const uri = given.trim();
    const parsed = parseDatabaseUri(uri);
    if (!('problem' in parsed)) return { value: new Secret(uri) };
    const remedy =
      'Write postgres://user:password@host:5432/database, with special characters of the password percent-encoded and several hosts separated by commas.';
    return { problem: parsed.problem, remedy };
  },
  format: (value) => withoutPassword(value.reveal()),
});

export const hostList = (): SettingType<readonly AllowedHost[]> =>
  typeOf('hosts', {
    read: parseHostList,
    format: formatHostList,
    problem: 'is not a list of hosts',
    remedy: 'Write hosts with or without ports, separated by commas: minio.local:9000,[::1]:8080.',
  });

export const cidrList = (): SettingType<readonly Cidr[]> =>
  typeOf('networks', {
    read: parseCidrList,
    format: formatCidrList,
    problem: 'is not a list of networks',
    remedy: 'Write addresses or networks, separated by commas: 10.0.0.0/8,192.168.1.7,fd00::/8.',
  });

export const originList = (): SettingType<readonly string[]> =>
  typeOf('origins', {
    read: (given) => {
      const origins = given.split(',').map((entry) => parseOrigin(entry.trim()));
      return origins.every((origin) => origin !== undefined) ? origins : undefined;
    },
    format: (value) => value.join(', '),
    problem: 'is not a list of origins',
    remedy:
      'Write scheme, host and port only, separated by commas: https://app.example.com,http://localhost:3000.',
  });

/** Minimum length of a key in characters: shorter keys can be guessed. */
const keyCharsMin = 32;

/** Comma-separated API keys. */
export const keyList = (): SettingType<readonly Secret[]> =>
  secretOf('secrets', {
    read: (given) => {
      const keys = given.split(',').map((entry) => entry.trim());
      // A key with characters that headers cannot contain could never be sent.
      return keys.every((each) => each.length >= keyCharsMin && /^[\x21-\x7e]+$/.test(each))
        ? keys.map((each) => new Secret(each))
        : undefined;
    },
    format: (value) => value.map(String).join(', '),
    problem: 'contains a key that is too short, or has characters that headers cannot contain',
    remedy: `Give keys of at least ${keyCharsMin} characters (openssl rand -hex 32), separated by commas.`,
  });

export const key = (): SettingType<Secret> => ({
  name: 'secret',
  secret: true,
  parse: (given) =>
    given.length < keyCharsMin
      ? {
          problem: `is too short: it has ${given.length} characters, and ${keyCharsMin} are the minimum`,
          remedy: 'Make one with openssl rand -hex 32.',
        }
      : { value: new Secret(given) },
  format: String,
});

/** A secret that another system has given. */
export const givenSecret = (): SettingType<Secret> =>
  secretOf('secret', {
    read: (given) => (given === '' || given.length > 4_096 ? undefined : new Secret(given)),
    problem: 'is not a secret',
    remedy: 'Give the text as it was issued, at most 4096 characters.',
  });

/** 32 random bytes, as hex or base64. */
export const encryptionKey = (): SettingType<Secret> =>
  secretOf('secret', {
    read: (given) => (/^([\da-f]{64}|[\w+/-]{43}=?)$/i.test(given) ? new Secret(given) : undefined),
    problem: 'is not a key',
    remedy: 'Give 32 random bytes: openssl rand -base64 32.',
  });

export const uuid = (): SettingType<string> =>
  typeOf('UUID', {
    read: (given) =>
      /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(given) ? given.toLowerCase() : undefined,
    problem: 'is not a UUID',
    remedy: 'Make one: uuidgen.',
  });

/** Absolute paths: a list has no folder for relative ones. */
export const pathList = (): SettingType<readonly string[]> =>
  typeOf('list of paths', {
    read: (given) => {
      const paths = given.split(',').map((each) => each.trim());
      return paths.every((each) => isAbsolute(each) && !each.includes('\0')) ? paths : undefined;
    },
    problem: 'is not a list of absolute paths',
    remedy: 'Write absolute paths, separated by commas: /srv/exports,/data/out',
  });

export const path = (pattern: RegExp): SettingType<string> =>
  typeOf('url path', {
    read: (given) => (pattern.test(given) ? given : undefined),
    problem: 'is not a path of a URL',
    remedy: 'Write a path such as /agents, without a slash at the end.',
  });

/** Facts on which defaults depend. */
export interface Machine {
  cores: number;
  /** Whether the log goes to a terminal. */
  terminal: boolean;
  /** Whether the command is `svc dev`. */
  develops: boolean;
  /** Folder of the config file. */
  dir: string;
}

export interface Alias {
  name: string;
  /** Appended to the value, for variables of LangGraph Server whose names contain the unit. */
  unit?: 's' | 'b';
}

export interface SettingDefinition<T> {
  variable: `SVC_${string}`;
  /** Names of LangGraph Server, read in this order when the variable is not set. */
  aliases?: readonly Alias[];
  /** Without a placeholder the flag takes no value and means true. */
  flag?: { name: `--${string}`; placeholder?: string; short?: string };
  type: SettingType<T>;
  /** In text form; undefined is a value too ("none"). */
  default: string | undefined | ((machine: Machine) => string);
  /** For the table, when the default is computed or undefined. */
  defaultDoc?: string;
  doc: string;
}

export function setting<T>(definition: SettingDefinition<T>): SettingDefinition<T> {
  return definition;
}
