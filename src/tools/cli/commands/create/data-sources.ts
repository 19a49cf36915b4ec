/**
 * Data of a ConfigMap or Secret: literals (`--from-literal=key=value`), files (`--from-file=[key=]file`, or all files
 * of a directory), and files with `KEY=VALUE` lines (`--from-env-file`).
 */
import { isUtf8 } from 'node:buffer'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { repeated, text, UsageError } from '../../../../base/flags/flags.ts'
import { codeOf } from '../../../../base/text/errors.ts'
import type { Context } from '../../program/command.ts'

export const dataFlags = {
  fromLiteral: repeated({ name: 'from-literal', value: 'KEY=VALUE', read: text, help: 'entry to store, as KEY=VALUE' }),
  fromFile: repeated({
    name: 'from-file',
    value: '[KEY=]FILE',
    read: text,
    help: 'file to store, or directory whose files to store; KEY defaults to the name of the file',
  }),
  fromEnvFile: repeated({
    name: 'from-env-file',
    value: 'FILE',
    read: text,
    help: 'file with one KEY=VALUE pair per line',
  }),
}

export interface DataOptions {
  readonly fromLiteral: readonly string[]
  readonly fromFile: readonly string[]
  readonly fromEnvFile: readonly string[]
}

/** Collects the data from all flags, as bytes by key. */
export function readData({ directory, env }: Context, options: DataOptions): Map<string, Buffer> {
  const data = new Map<string, Buffer>()
  const add = (key: string, value: Buffer) => {
    if (data.has(key))
      throw new UsageError(`cannot add key ${JSON.stringify(key)}, another key by that name already exists`)
    data.set(key, value)
  }
  for (const file of options.fromFile.flatMap((files) => files.split(',')))
    for (const [key, value] of filesOf(directory, file)) add(key, value)
  for (const file of options.fromEnvFile)
    for (const [key, value] of variablesIn(read(resolve(directory, file), file), file, env))
      add(key, Buffer.from(value))
  for (const literal of options.fromLiteral) add(...literalOf(literal))
  return data
}

export function isText(bytes: Buffer): boolean {
  return isUtf8(bytes)
}

/** Parses `key=value` and removes quotes around the value. */
export function literalOf(literal: string): [string, Buffer] {
  const equals = literal.indexOf('=')
  if (equals <= 0) throw new UsageError(`invalid literal source ${literal}, expected key=value`)
  const value = literal.slice(equals + 1)
  const quoted = /^(["'])(.*)\1$/s.exec(value)
  return [literal.slice(0, equals), Buffer.from(quoted?.[2] ?? value)]
}

function filesOf(directory: string, source: string): [string, Buffer][] {
  const equals = source.indexOf('=')
  const [key, file] = equals < 0 ? ['', source] : [source.slice(0, equals), source.slice(equals + 1)]
  if (equals === 0) throw new UsageError(`key name for file path ${file} missing`)
  if (file === '') throw new UsageError(`file path for key name ${key} missing`)
  const path = resolve(directory, file)
  const fileStat = statSync(path, { throwIfNoEntry: false })
  if (fileStat === undefined) throw new UsageError(`error reading ${file}: no such file or directory`)
  if (!fileStat.isDirectory()) return [[key || basename(path), read(path, file)]]
  if (key !== '') throw new UsageError('cannot give a key name for a directory path')
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => [entry.name, read(join(path, entry.name), entry.name)])
}

/** Parses a file of variables. As in other tools, a key without a value gets its value from the environment. */
export function variablesIn(bytes: Buffer, file: string, env: Context['env']): [string, string][] {
  const lines = bytes
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
  return lines.flatMap((line, i): [string, string][] => {
    const trimmed = line.trimStart()
    if (trimmed === '' || trimmed.startsWith('#')) return []
    const equals = trimmed.indexOf('=')
    const key = equals < 0 ? trimmed.trim() : trimmed.slice(0, equals)
    if (!/^[-._a-zA-Z][-._a-zA-Z0-9]*$/.test(key))
      throw new UsageError(`${file}:${i + 1}: ${JSON.stringify(key)} is not a valid key name`)
    if (equals >= 0) return [[key, trimmed.slice(equals + 1)]]
    return env[key] === undefined ? [] : [[key, env[key]]]
  })
}

function read(path: string, name: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new UsageError(`error reading ${name}: ${codeOf(error)}`)
  }
}
