/** Sets fields of one kubeconfig entry, for `config set-context`, `set-cluster` and `set-credentials`. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Json } from '../../../../api/json/json.ts'
import { UsageError } from '../../../../base/flags/flags.ts'
import { codeOf } from '../../../../base/text/errors.ts'
import { type EntrySort, setEntry } from '../../../../client/node/kubeconfig-edit.ts'
import { configFiles } from '../../connection/connect.ts'
import { escapeLine } from '../../printers/escape.ts'
import type { Context } from '../../program/command.ts'

export interface Setting {
  readonly sort: EntrySort
  /** Entry type in messages: `Cluster`, `User` or `Context`. */
  readonly title: string
  readonly kubeconfig: string
  readonly words: readonly string[]
  /** Fields to set. An empty string removes a field, and undefined leaves it unchanged. */
  readonly fields: { readonly [field: string]: Json | undefined }
  /** Fields to remove because the new fields replace them. */
  readonly dropped?: readonly string[]
}

export async function setConfigEntry(
  context: Context,
  { sort, title, kubeconfig, words, fields, dropped = [] }: Setting,
): Promise<void> {
  const [name, ...more] = words
  if (name === undefined || more.length > 0) throw new UsageError(`specify one ${sort} to set`)
  const statedFields = Object.entries(fields).filter(([, value]) => value !== undefined)
  const done = await setEntry(configFiles(context, kubeconfig), {
    sort,
    name,
    fields: {
      ...Object.fromEntries(dropped.map((field) => [field, undefined])),
      ...Object.fromEntries(statedFields.map(([field, value]) => [field, value === '' ? undefined : value])),
    },
  })
  context.out(`${title} "${escapeLine(name)}" ${sort === 'user' ? 'set' : sort === 'cluster' ? 'set' : done}.\n`)
}

/**
 * Returns the kubeconfig field that refers to a file by its path or, with `embed`, contains the file's content in
 * base64.
 */
export function fileField(
  { directory }: Context,
  field: string,
  { file, embed }: { file: string | undefined; embed: boolean },
): { [field: string]: string } {
  if (file === undefined) return {}
  if (file === '') return { [field]: '', [`${field}-data`]: '' }
  const path = resolve(directory, file)
  if (!embed) return { [field]: path }
  try {
    return { [`${field}-data`]: readFileSync(path).toString('base64') }
  } catch (error) {
    throw new UsageError(`cannot read ${file}: ${codeOf(error)}`)
  }
}
