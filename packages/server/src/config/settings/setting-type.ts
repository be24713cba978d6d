// Types of settings: each parses, formats and validates the text form of a value.
import { isAbsolute } from 'node:path';
import { formatCidrList, parseCidrList } from '../../net/cidr-list.ts';
import type { Cidr } from '../../net/cidr-list.ts';
import { formatHostList, parseHostList } from '../../net/host-list.ts';
import type { AllowedHost } from '../../net/host-list.ts';
import { parseDatabaseUri } from './database-uri.ts';
import { formatDuration, parseDuration } from './duration.ts';
import { parseOrigin } from './cors.ts';
import { Secret, withoutPassword } from './secret.ts';
import { formatSize, parseSize } from './size.ts';

export interface SettingType<T> {
  /** For the table of settings: `duration`, `integer`. */
  name: string;
  secret: boolean;
  parse(text: string): { value: T } | { problem: string; remedy: string };
  format(value: T): string;
}

export function text(name = 'text'): SettingType<string> {
  return {
    name,
    secret: false,
    parse: (given) =>
      given === '' || given.includes('\0')
        ? { problem: `is not a ${name}`, remedy: 'Give a text that is not empty, or leave it out.' }
        : { value: given },
    format: (value) => value,
  };
}

/** A host name or an address; IPv6 also in brackets, as in URLs. */
export function hostName(): SettingType<string> {
  const type = text('host name');
  return { ...type, parse: (given) => type.parse(given.replace(/^\[(.*:.*)\]$/, '$1')) };
}

export function integer(range: { min: number; max: number }): SettingType<number> {
  const remedy = `Give a whole number from ${range.min} to ${range.max}.`;
  return {
    name: 'integer',
    secret: false,
    parse: (given) => {
      if (!/^-?\d{1,16}$/.test(given)) return { problem: 'is not a whole number', remedy };
      const value = Number(given);
      return value < range.min || value > range.max ? { problem: 'is out of range', remedy } : { value };
    },
    format: String,
  };
}

/** A whole number, or `none`: infinity. */
export function limit(range: { min: number; max: number }): SettingType<number> {
  const number = integer(range);
  return {
    name: 'integer | none',
    secret: false,
    parse: (given) => {
      if (given.toLowerCase() === 'none') return { value: Number.POSITIVE_INFINITY };
      const parsed = number.parse(given);
      return 'value' in parsed
        ? parsed
        : { ...parsed, remedy: `${parsed.remedy} Or none, for no limit at all.` };
    },
    format: (value) => (Number.isFinite(value) ? String(value) : 'none'),
  };
}

/** A whole number, or `auto`. */
export function integerOrAuto(range: { min: number; max: number }): SettingType<number | 'auto'> {
  const number = integer(range);
  return {
    name: 'integer | auto',
    secret: false,
    parse: (given) => {
      if (given.toLowerCase() === 'auto') return { value: 'auto' };
      const parsed = number.parse(given);
      return 'value' in parsed ? parsed : { ...parsed, remedy: `${parsed.remedy} Or auto.` };
    },
    format: String,
  };
}

export function boolean(): SettingType<boolean> {
  return {
    name: 'boolean',
    secret: false,
    parse: (given) =>
      given === 'true' || given === 'false'
        ? { value: given === 'true' }
        : { problem: 'is neither true nor false', remedy: 'Write true or false.' },
    format: String,
  };
}

export function duration(range: { minMs: number; maxMs: number }): SettingType<number> {
  const remedy = `Write a number and a unit (500ms, 30s, 2m, 4h, 1d), from ${formatDuration(range.minMs)} to ${formatDuration(range.maxMs)}.`;
  return {
    name: 'duration',
    secret: false,
    parse: (given) => {
      const value = parseDuration(given);
      if (value === undefined) return { problem: 'is not a duration', remedy };
      return value < range.minMs || value > range.maxMs ? { problem: 'is out of range', remedy } : { value };
    },
    format: formatDuration,
  };
}

export function size(range: { minBytes: number; maxBytes: number }): SettingType<number> {
  const remedy = `Write a number and a unit (512b, 64kb, 20mb, 1gb), from ${formatSize(range.minBytes)} to ${formatSize(range.maxBytes)}.`;
  return {
    name: 'size',
    secret: false,
    parse: (given) => {
      const value = parseSize(given);
      if (value === undefined) return { problem: 'is not a size', remedy };
      return value < range.minBytes || value > range.maxBytes
        ? { problem: 'is out of range', remedy }
        : { value };
    },
    format: formatSize,
  };
}

/** `spellings` maps the words of other tools to options. */
export function oneOf<const T extends string>(
  options: readonly T[],
  spellings: Readonly<Record<string, T>> = {},
): SettingType<T> {
  const words = new Map<string, T>([
    ...options.map((option) => [option, option] as const),
    ...Object.entries(spellings),
  ]);
  return {
    name: options.join(' | '),
    secret: false,
    parse: (given) => {
      const value = words.get(given.toLowerCase());
      return value === undefined
        ? { problem: 'is not one of the choices', remedy: `Choose one of: ${options.join(', ')}.` }
        : { value };
    },
    format: (value) => value,
  };
}

export function databaseUri(): SettingType<Secret> {
  const remedy =
    'Write postgres://user:password@host:5432/database, with special characters of the password percent-encoded and several hosts separated by commas.';
  return {
    name: 'PostgreSQL URI',
    secret: true,
    parse: (given) => {
      // A secret that is read from a file often ends with a line break.
      const text = given.trim();
      const uri = parseDatabaseUri(text);
      return 'problem' in uri ? { problem: uri.problem, remedy } : { value: new Secret(text) };
    },
    format: (value) => withoutPassword(value.reveal()),
  };
}

export function hostList(): SettingType<readonly AllowedHost[]> {
  return {
    name: 'hosts',
    secret: false,
    parse: (given) => {
      const value = parseHostList(given);
      return value === undefined
        ? {
            problem: 'is not a list of hosts',
            remedy: 'Write hosts with or without ports, separated by commas: minio.local:9000,[::1]:8080.',
          }
        : { value };
    },
    format: formatHostList,
  };
}

export function cidrList(): SettingType<readonly Cidr[]> {
  return {
    name: 'networks',
    secret: false,
    parse: (given) => {
      const value = parseCidrList(given);
      return value === undefined
        ? {
            problem: 'is not a list of networks',
            remedy: 'Write addresses or networks, separated by commas: 10.0.0.0/8,192.168.1.7,fd00::/8.',
          }
        : { value };
    },
    format: formatCidrList,
  };
}

export function originList(): SettingType<readonly string[]> {
  return {
    name: 'origins',
    secret: false,
    parse: (given) => {
      const origins = given.split(',').map((entry) => parseOrigin(entry.trim()));
      return origins.every((origin) => origin !== undefined)
        ? { value: origins }
        : {
            problem: 'is not a list of origins',
            remedy:
              'Write scheme, host and port only, separated by commas: https://app.example.com,http://localhost:3000.',
          };
    },
    format: (value) => value.join(', '),
  };
}

/** Minimum length of a key in characters: shorter keys can be guessed. */
const keyCharsMin = 32;

/** Comma-separated API keys. */
export function keyList(): SettingType<readonly Secret[]> {
  return {
    name: 'secrets',
    secret: true,
    parse: (given) => {
      const keys = given.split(',').map((entry) => entry.trim());
      // A key with characters that headers cannot contain could never be sent.
      return keys.every((each) => each.length >= keyCharsMin && /^[\x21-\x7e]+$/.test(each))
        ? { value: keys.map((each) => new Secret(each)) }
        : {
            problem: 'contains a key that is too short, or has characters that headers cannot contain',
            remedy: `Give keys of at least ${keyCharsMin} characters (openssl rand -hex 32), separated by commas.`,
          };
    },
    format: (value) => value.map(String).join(', '),
  };
}

export function key(): SettingType<Secret> {
  return {
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
  };
}

/** A secret that another system has given. */
export function givenSecret(): SettingType<Secret> {
  return {
    name: 'secret',
    secret: true,
    parse: (given) =>
      given === '' || given.length > 4_096
        ? { problem: 'is not a secret', remedy: 'Give the text as it was issued, at most 4096 characters.' }
        : { value: new Secret(given) },
    format: String,
  };
}

/** 32 random bytes, as hex or base64. */
export function encryptionKey(): SettingType<Secret> {
  return {
    name: 'secret',
    secret: true,
    parse: (given) =>
      /^([\da-f]{64}|[\w+/-]{43}=?)$/i.test(given)
        ? { value: new Secret(given) }
        : { problem: 'is not a key', remedy: 'Give 32 random bytes: openssl rand -base64 32.' },
    format: String,
  };
}

export function uuid(): SettingType<string> {
  return {
    name: 'UUID',
    secret: false,
    parse: (given) =>
      /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(given)
        ? { value: given.toLowerCase() }
        : { problem: 'is not a UUID', remedy: 'Make one: uuidgen.' },
    format: (value) => value,
  };
}

/** Absolute paths: a list has no folder for relative ones. */
export function pathList(): SettingType<readonly string[]> {
  return {
    name: 'list of paths',
    secret: false,
    parse: (given) => {
      const paths = given.split(',').map((path) => path.trim());
      return paths.every((path) => isAbsolute(path) && !path.includes('\0'))
        ? { value: paths }
        : {
            problem: 'is not a list of absolute paths',
            remedy: 'Write absolute paths, separated by commas: /srv/exports,/data/out',
          };
    },
    format: (value) => value.join(','),
  };
}

export function path(pattern: RegExp): SettingType<string> {
  return {
    name: 'url path',
    secret: false,
    parse: (given) =>
      pattern.test(given)
        ? { value: given }
        : {
            problem: 'is not a path of a URL',
            remedy: 'Write a path such as /agents, without a slash at the end.',
          },
    format: (value) => value,
  };
}
