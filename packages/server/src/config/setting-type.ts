// The kinds of value a setting can have: how its text is read, shown, and refused.

import { formatHostList, parseHostList } from '../egress/host-list.ts';
import type { AllowedHost } from '../egress/host-list.ts';
import { formatDuration, parseDuration } from './duration.ts';
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

/** `spellings` are other words for one of the options, as other tools write them. */
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
    'Write postgres://user:password@host:5432/database, with special characters of the password percent-encoded.';
  return {
    name: 'PostgreSQL URI',
    secret: true,
    parse: (given) => {
      if (!/^postgres(ql)?:\/\//.test(given)) return { problem: 'is not a PostgreSQL URI', remedy };
      return URL.canParse(given)
        ? { value: new Secret(given) }
        : { problem: 'is not a URI that can be read', remedy };
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
            remedy: 'Write hosts with a port or without, and commas between: minio.local:9000,[::1]:8080.',
          }
        : { value };
    },
    format: formatHostList,
  };
}

/** A key for signatures: short ones can be guessed. */
export function key(range: { min: number }): SettingType<Secret> {
  return {
    name: 'secret',
    secret: true,
    parse: (given) =>
      given.length < range.min
        ? { problem: 'is too short', remedy: `Give at least ${range.min} characters: openssl rand -hex 32.` }
        : { value: new Secret(given) },
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
