/**
 * Changes of client configs. A file is read, changed and put in place as a whole: whoever is interrupted leaves the old
 * one or the new one. An entry is changed in the file that has it; a new one goes into the first file. Only the owner
 * may read what is written, since it may hold keys.
 */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeDirectory, replaceFile } from '../../base/files.ts'
import { isObject, type Json, type JsonObject, own } from '../../model/json.ts'
import { parseConfigYaml } from './config-yaml.ts'
import { ConfigError, textIfThere } from './kubeconfig-files.ts'

export type EntrySort = 'cluster' | 'user' | 'context'

const emptyConfig = (): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [],
  contexts: [],
  'current-context': '',
  users: [],
})

/** The content of a client config; an empty one where there is none. */
export function readConfigFile(file: string): JsonObject {
  const text = textIfThere(file)
  if (text === undefined || text.trim() === '') return emptyConfig()
  const content = parseConfigYaml(file, text)
  if (!isObject(content)) throw new ConfigError(`${file} is not a client config`)
  return content
}

/** Sets fields of an entry, which is made if it is not there; a field that is undefined is removed. Says which of both. */
export async function setEntry(
  files: readonly string[],
  {
    sort,
    name,
    fields,
    write,
  }: {
    sort: EntrySort
    name: string
    fields: { readonly [field: string]: Json | undefined }
    write: (value: Json) => string
  },
): Promise<'created' | 'modified'> {
  const file = files.find((candidate) => hasEntry(readConfigFile(candidate), sort, name)) ?? files[0]!
  const config = readConfigFile(file)
  const entries = entriesOf(config, sort)
  const before = entries.find((entry) => own(entry, 'name') === name)
  const inner = before === undefined ? {} : own(before, sort)
  const merged = Object.entries({ ...(isObject(inner) ? inner : {}), ...fields }).filter(
    ([, value]) => value !== undefined,
  )
  const entry = { ...before, name, [sort]: Object.fromEntries(merged) as JsonObject }
  const others = before === undefined ? [...entries, entry] : entries.map((other) => (other === before ? entry : other))
  await writeConfig(file, write({ ...config, [`${sort}s`]: others }))
  return before === undefined ? 'created' : 'modified'
}

/** Makes a context the current one. The first file that names one is the one that counts. */
export async function setCurrentContext(
  files: readonly string[],
  name: string,
  write: (value: Json) => string,
): Promise<void> {
  if (!files.some((file) => hasEntry(readConfigFile(file), 'context', name)))
    throw new ConfigError(`no context exists with the name: ${JSON.stringify(name)}`)
  const file = files.find((candidate) => own(readConfigFile(candidate), 'current-context')) ?? files[0]!
  await writeConfig(file, write({ ...readConfigFile(file), 'current-context': name }))
}

function hasEntry(config: JsonObject, sort: EntrySort, name: string): boolean {
  return entriesOf(config, sort).some((entry) => own(entry, 'name') === name)
}

function entriesOf(config: JsonObject, sort: EntrySort): JsonObject[] {
  const entries = own(config, `${sort}s`)
  return Array.isArray(entries) ? entries.filter(isObject) : []
}

async function writeConfig(file: string, text: string): Promise<void> {
  if (!existsSync(dirname(file))) await makeDirectory(dirname(file), 0o700)
  await replaceFile(file, text, 0o600)
}
