/**
 * Edits kubeconfigs. A file is read, changed and atomically replaced under a lock file. An interrupted edit leaves
 * either the old or the new content, and concurrent edits do not overwrite each other. An entry is changed in the file
 * that contains it. A new entry is added to the first file. Only the owner can read the files, because they may contain
 * keys.
 */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { isObject, type Json, type JsonObject, own } from '../../api/json/json.ts'
import { withFileLock } from '../../base/files/file-lock.ts'
import { makeDirectory, replaceFile } from '../../base/files/files.ts'
import { parseConfigYaml, writeConfigYaml } from './config-yaml.ts'
import { ConfigError, textIfThere } from './kubeconfig-files.ts'

/** The kinds of entries in a kubeconfig that can be edited. */
export type EntrySort = 'cluster' | 'user' | 'context'

const emptyConfig = (): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [],
  contexts: [],
  'current-context': '',
  users: [],
})

/** Returns the content of a kubeconfig. The content is empty if the file does not exist. */
export function readConfigFile(file: string): JsonObject {
  const text = textIfThere(file)
  if (text === undefined || text.trim() === '') return emptyConfig()
  const content = parseConfigYaml(file, text)
  if (!isObject(content)) throw new ConfigError(`${file} is not a kubeconfig`)
  return content
}

/**
 * Sets fields of an entry and creates the entry if it does not exist. An undefined field is removed. Returns whether
 * the entry was created or changed.
 */
export async function setEntry(
  files: readonly string[],
  { sort, name, fields }: EntryName & { readonly fields: { readonly [field: string]: Json | undefined } },
): Promise<'created' | 'modified'> {
  const file = files.find((candidate) => hasEntry(readConfigFile(candidate), sort, name)) ?? files[0]!
  return await changeEntry(file, { sort, name }, (inner) => {
    const merged = Object.entries({ ...inner, ...fields }).filter(([, value]) => value !== undefined)
    return Object.fromEntries(merged) as JsonObject
  })
}

export interface EntryName {
  readonly sort: EntrySort
  readonly name: string
}

/**
 * Changes one entry of a file, or adds the entry if the file does not contain it. Returns whether the file contained
 * the entry.
 */
export async function changeEntry(
  file: string,
  { sort, name }: EntryName,
  change: (inner: JsonObject) => JsonObject | Promise<JsonObject>,
): Promise<'created' | 'modified'> {
  return await changeConfig(file, async (config) => {
    const entries = entriesOf(config, sort)
    const before = entries.find((entry) => own(entry, 'name') === name)
    const inner = before === undefined ? {} : own(before, sort)
    const entry = { ...before, name, [sort]: await change(isObject(inner) ? inner : {}) }
    const others =
      before === undefined ? [...entries, entry] : entries.map((other) => (other === before ? entry : other))
    return {
      config: { ...config, [`${sort}s`]: others },
      result: before === undefined ? 'created' : 'modified',
    }
  })
}

/** Sets the current context in the first file that has one, because that file takes precedence. */
export async function setCurrentContext(files: readonly string[], name: string): Promise<void> {
  if (!files.some((file) => hasEntry(readConfigFile(file), 'context', name)))
    throw new ConfigError(`no context exists with the name: ${JSON.stringify(name)}`)
  const file = files.find((candidate) => own(readConfigFile(candidate), 'current-context')) ?? files[0]!
  await changeConfig(file, (config) => ({ config: { ...config, 'current-context': name }, result: undefined }))
}

/** Removes an entry and returns the file that contained it, or undefined if there is no such entry. */
export async function removeEntry(files: readonly string[], { sort, name }: EntryName): Promise<string | undefined> {
  const file = files.find((candidate) => hasEntry(readConfigFile(candidate), sort, name))
  if (file === undefined) return undefined
  await changeConfig(file, (config) => {
    const others = entriesOf(config, sort).filter((entry) => own(entry, 'name') !== name)
    return { config: { ...config, [`${sort}s`]: others }, result: undefined }
  })
  return file
}

/** Renames a context. If it is the current context, the name of the current context is updated too. */
export async function renameContext(files: readonly string[], from: string, to: string): Promise<void> {
  const file = files.find((candidate) => hasEntry(readConfigFile(candidate), 'context', from))
  const cannot = `cannot rename the context ${JSON.stringify(from)}`
  if (file === undefined) throw new ConfigError(`${cannot}, it's not in ${files.join(', ')}`)
  const conflictingFile = files.find((candidate) => hasEntry(readConfigFile(candidate), 'context', to))
  if (conflictingFile !== undefined)
    throw new ConfigError(`${cannot}, the context ${JSON.stringify(to)} already exists in ${conflictingFile}`)
  await changeConfig(file, (config) => {
    const contexts = entriesOf(config, 'context').map((entry) =>
      own(entry, 'name') === from ? { ...entry, name: to } : entry,
    )
    return { config: { ...config, contexts }, result: undefined }
  })
  const naming = files.find((candidate) => own(readConfigFile(candidate), 'current-context'))
  if (naming !== undefined && own(readConfigFile(naming), 'current-context') === from)
    await setCurrentContext(files, to)
}

/** Removes the current context. */
export async function unsetCurrentContext(files: readonly string[]): Promise<void> {
  for (const file of files)
    if (own(readConfigFile(file), 'current-context'))
      await changeConfig(file, (config) => ({ config: { ...config, 'current-context': '' }, result: undefined }))
}

/** Whether one of the files contains an entry with the given name. */
export function isConfigured(files: readonly string[], { sort, name }: EntryName): boolean {
  return files.some((file) => hasEntry(readConfigFile(file), sort, name))
}

function hasEntry(config: JsonObject, sort: EntrySort, name: string): boolean {
  return entriesOf(config, sort).some((entry) => own(entry, 'name') === name)
}

function entriesOf(config: JsonObject, sort: EntrySort): JsonObject[] {
  const entries = own(config, `${sort}s`)
  return Array.isArray(entries) ? entries.filter(isObject) : []
}

interface Changed<T> {
  readonly config: JsonObject
  readonly result: T
}

async function changeConfig<T>(
  file: string,
  change: (config: JsonObject) => Changed<T> | Promise<Changed<T>>,
): Promise<T> {
  if (!existsSync(dirname(file))) await makeDirectory(dirname(file), 0o700)
  return await withFileLock(`${file}.lock`, async () => {
    const before = readConfigFile(file)
    const { config, result } = await change(before)
    await replaceFile(file, writeConfigYaml(config), 0o600)
    return result
  })
}
