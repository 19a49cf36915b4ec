/** `orchctl config view`: prints the kubeconfig, merged from all kubeconfig files and without secrets. */
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { isObject, type Json, type JsonObject, own } from '../../../../api/json/json.ts'
import { compareUtf8 } from '../../../../base/collections/utf8-order.ts'
import { flag, readBoolean, toggle, UsageError } from '../../../../base/flags/flags.ts'
import { codeOf } from '../../../../base/text/errors.ts'
import { type EntrySort, readConfigFile } from '../../../../client/node/kubeconfig-edit.ts'
import { configFiles } from '../../connection/connect.ts'
import { printDocument } from '../../printers/objects.ts'
import { type Output, templateFlags, writeOutputFlag } from '../../printers/output.ts'
import { fillTemplate, type TemplateOptions } from '../../printers/templates.ts'
import { defineCommand, refuseWords } from '../../program/command.ts'
import { configFlags } from './config-files.ts'

const flags = {
  output: { ...writeOutputFlag, default: 'yaml' },
  ...templateFlags,
  raw: toggle({ name: 'raw', help: 'show private keys, certificates and tokens instead of hiding them' }),
  flatten: toggle({
    name: 'flatten',
    help: 'embed the contents of referenced files, so that the kubeconfig can be moved',
  }),
  merge: flag({
    name: 'merge',
    default: 'true',
    read: readBoolean,
    help: 'merge all kubeconfig files; if false, show only the first file',
  }),
  minify: toggle({ name: 'minify', help: 'show only the current context, with its cluster and user' }),
  ...configFlags,
}

export const viewCommand = defineCommand({
  name: 'config view',
  forms: ['[flags]'],
  about: 'Show the kubeconfig, merged from all its files. Keys and tokens are hidden unless --raw or --flatten is set.',
  examples: ['orchctl config view', 'orchctl config view --minify --flatten'],
  flags,
  run: async (context, { options, words }) => {
    refuseWords(words)
    const files = configFiles(context, options.kubeconfig)
    const read = (file: string) => (options.flatten ? located(readConfigFile(file), file) : readConfigFile(file))
    const merged = mergeConfigs((options.merge ? files : files.slice(0, 1)).map(read))
    const config = options.context === '' ? merged : { ...merged, 'current-context': options.context }
    const displayedConfig = options.minify ? minified(config) : config
    const whole = options.flatten
      ? flattened(displayedConfig)
      : options.raw
        ? displayedConfig
        : redacted(displayedConfig)
    context.out(await printed(whole, options.output, options))
  },
})

async function printed(config: Json, output: Output, options: TemplateOptions): Promise<string> {
  if (output.form === 'template') return await fillTemplate(output, config, options)
  if (output.form !== 'json' && output.form !== 'yaml')
    throw new UsageError('-o must be yaml, json, jsonpath=... or go-template=...')
  return await printDocument(config, output.form)
}

const sorts = ['cluster', 'context', 'user'] as const

/** Merges kubeconfigs and sorts entries by name. If several entries have the same name, the first entry is used. */
function mergeConfigs(configs: readonly JsonObject[]): JsonObject {
  const merged: JsonObject = { apiVersion: 'v1', kind: 'Config', preferences: {} }
  for (const sort of sorts) {
    const all = configs.flatMap((config) => entriesOf(config, sort))
    merged[`${sort}s`] = all
      .filter((entry, i) => all.findIndex((other) => own(other, 'name') === own(entry, 'name')) === i)
      .sort((a, b) => compareUtf8(String(own(a, 'name')), String(own(b, 'name'))))
  }
  return {
    ...merged,
    'current-context': configs.map((config) => own(config, 'current-context')).find((name) => name) ?? '',
  }
}

function entriesOf(config: JsonObject, sort: string): JsonObject[] {
  const entries = own(config, `${sort}s`)
  return Array.isArray(entries) ? entries.filter(isObject) : []
}

/** Returns the names of all clusters, users or contexts in a kubeconfig. */
export function entryNames(config: JsonObject, sort: string): string[] {
  return entriesOf(config, sort).flatMap((entry) => {
    const name = own(entry, 'name')
    return typeof name === 'string' ? [name] : []
  })
}

const namedFiles: { readonly [sort: string]: readonly string[] } = {
  cluster: ['certificate-authority'],
  user: ['client-certificate', 'client-key'],
}

/** Makes file paths absolute. They are relative to the directory of the kubeconfig. */
function located(config: JsonObject, file: string): JsonObject {
  return withFiles(config, (field, path) => [field, resolve(dirname(file), path)])
}

/** Replaces references to files with the contents of the files. */
function flattened(config: JsonObject): JsonObject {
  return withFiles(config, (field, path) => [`${field}-data`, contentOf(path)])
}

function withFiles(config: JsonObject, change: (field: string, path: string) => readonly [string, string]): JsonObject {
  const changed = (entry: JsonObject, sort: string): JsonObject => {
    const inner = own(entry, sort)
    if (!isObject(inner)) return entry
    const fields = Object.entries(inner).map(([field, value]) =>
      namedFiles[sort]!.includes(field) && typeof value === 'string' && value !== ''
        ? change(field, value)
        : [field, value],
    )
    return { ...entry, [sort]: Object.fromEntries(fields) as JsonObject }
  }
  const sortsWithFiles = Object.keys(namedFiles).map((sort) => [
    `${sort}s`,
    entriesOf(config, sort).map((entry) => changed(entry, sort)),
  ])
  return { ...config, ...Object.fromEntries(sortsWithFiles) }
}

function contentOf(path: string): string {
  try {
    return readFileSync(path).toString('base64')
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${codeOf(error)}`)
  }
}

/**
 * Returns only the current context and its entries. Throws UsageError if one of them is missing, because the result
 * would be unusable.
 */
function minified(config: JsonObject): JsonObject {
  const current = own(config, 'current-context')
  if (!current) throw new UsageError('no current context is set: specify one with --context')
  const contexts = entriesNamed(config, 'context', current)
  const context = own(contexts[0]!, 'context')
  const inner = isObject(context) ? context : {}
  return {
    ...config,
    contexts,
    clusters: entriesNamed(config, 'cluster', own(inner, 'cluster')),
    users: entriesNamed(config, 'user', own(inner, 'user')),
  }
}

function entriesNamed(config: JsonObject, sort: EntrySort, name: Json | undefined): JsonObject[] {
  const matchingEntries = entriesOf(config, sort).filter((entry) => own(entry, 'name') === name)
  if (matchingEntries.length === 0 && name) throw new UsageError(`cannot locate ${sort} ${name}`)
  return matchingEntries
}

const secrets: { readonly [field: string]: string } = {
  'client-key-data': 'REDACTED',
  'client-certificate-data': 'REDACTED',
  'certificate-authority-data': 'DATA+OMITTED',
  token: 'REDACTED',
  password: 'REDACTED',
}

function redacted(value: Json): Json {
  if (Array.isArray(value)) return value.map(redacted)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      Object.hasOwn(secrets, key) && member ? secrets[key]! : redacted(member ?? null),
    ]),
  )
}
