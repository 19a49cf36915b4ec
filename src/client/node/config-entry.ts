/**
 * An entry of a kubeconfig (a cluster, user or context) and its fields. Errors contain the file, the entry and the
 * field, but never values, which may be secret.
 */
import { dirname, resolve } from 'node:path'
import { type Json, type JsonObject, own } from '../../api/json/json.ts'
import { ConfigError, textIfThere } from './kubeconfig-files.ts'

/** An entry of a kubeconfig, and the file that it comes from. */
export interface Entry {
  readonly file: string
  readonly content: JsonObject
  /** The description of the entry in error messages, such as `user "alice"`. */
  readonly title: string
  readonly name?: string
}

export function requiredText(entry: Entry, field: string): string {
  const text = optionalText(entry, field)
  if (text === undefined) throw fault(entry, field, 'is missing')
  return text
}

/** Returns the value of a string field. An empty string counts as unset. */
export function optionalText(entry: Entry, field: string): string | undefined {
  const value = optional(entry, field)
  if (value === undefined || value === '') return undefined
  if (typeof value !== 'string') throw fault(entry, field, 'is not a string')
  return value
}

export function optionalFlag(entry: Entry, field: string): boolean {
  const value = optional(entry, field) ?? false
  if (typeof value !== 'boolean') throw fault(entry, field, 'is neither true nor false')
  return value
}

export function textList(entry: Entry, field: string): string[] {
  const value = optional(entry, field) ?? []
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string'))
    throw fault(entry, field, 'is not a list of strings')
  return value
}

/** Returns the value of a field. Null counts as unset. */
export function optional(entry: Entry, field: string): Json | undefined {
  return own(entry.content, field) ?? undefined
}

/** Returns PEM data from the base64 field `<field>-data`, or else from the file that `<field>` names. */
export function pemOf(entry: Entry, field: string): string | undefined {
  const data = optionalText(entry, `${field}-data`)
  if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8')
  const file = optionalText(entry, field)
  return file === undefined ? undefined : readNamed(entry, field, file)
}

/**
 * Returns the content of the file that a field refers to. Relative paths are resolved against the directory of the
 * kubeconfig.
 */
export function readNamed(entry: Entry, field: string, name: string): string {
  const file = besideConfig(entry, name)
  const text = textIfThere(file)
  if (text === undefined) throw fault(entry, field, `names ${file}, which does not exist`)
  return text
}

/** Resolves a path relative to the directory of the kubeconfig. */
export function besideConfig({ file }: Entry, name: string): string {
  return resolve(dirname(file), name)
}

export function checkPem(
  entry: Entry,
  field: string,
  pem: { ca?: string; cert?: string; key?: string | undefined },
): void {
  const what = 'ca' in pem ? 'is not a PEM certificate' : 'and client-key are not a PEM certificate and its key'
  if (!(pem.ca ?? pem.cert ?? '').includes('-----BEGIN ')) throw fault(entry, field, what)
  try {
    // Without a list of CAs, Node.js would load all well-known CAs, which takes longer than everything else at startup.
    // An `import` would load them too, because it evaluates all exports of the module.
    process.getBuiltinModule('node:tls').createSecureContext({ ca: [], ...pem })
  } catch (error) {
    throw fault(entry, field, what, error)
  }
}

/** Throws an error if the entry sets one of the given fields. Ignoring an unsupported setting could be dangerous. */
export function refuseUnsupported(entry: Entry, fields: readonly string[], why: string): void {
  for (const field of fields) {
    const value = optional(entry, field)
    if (value !== undefined && value !== false && value !== '') throw fault(entry, field, why)
  }
}

export function fault({ file, title }: Entry, field: string, what: string, cause?: unknown): ConfigError {
  const place = [file, title].filter((part) => part !== '').map((part) => `${part}: `)
  return new ConfigError(`${place.join('')}${field} ${what}`, { cause })
}
