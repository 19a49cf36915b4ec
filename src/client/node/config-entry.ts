/**
 * An entry of a client config (a cluster, a user or a context), and how its fields are read. What is wrong is reported
 * with the file, the entry and the field; values are never quoted, since they may be secrets.
 */
import { dirname, resolve } from 'node:path'
import { type Json, type JsonObject, own } from '../../api/json/json.ts'
import { ConfigError, textIfThere } from './kubeconfig-files.ts'

/** Where it stands, and what it says. */
export interface Entry {
  readonly file: string
  readonly content: JsonObject
  /** Such as `user "alice"`. */
  readonly title: string
  readonly name?: string
}

export function requiredText(entry: Entry, field: string): string {
  const text = optionalText(entry, field)
  if (text === undefined) throw fault(entry, field, 'is missing')
  return text
}

/** An empty text counts as none. */
export function optionalText(entry: Entry, field: string): string | undefined {
  const value = optional(entry, field)
  if (value === undefined || value === '') return undefined
  if (typeof value !== 'string') throw fault(entry, field, 'is not a text')
  return value
}

export function optionalFlag(entry: Entry, field: string): boolean {
  const value = optional(entry, field) ?? false
  if (typeof value !== 'boolean') throw fault(entry, field, 'is not true or false')
  return value
}

export function textList(entry: Entry, field: string): string[] {
  const value = optional(entry, field) ?? []
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string'))
    throw fault(entry, field, 'is not a list of texts')
  return value
}

/** What a field holds; null counts as nothing. */
export function optional(entry: Entry, field: string): Json | undefined {
  return own(entry.content, field) ?? undefined
}

/** From `<field>-data`, in base64, or else from the file that `<field>` names. */
export function pemOf(entry: Entry, field: string): string | undefined {
  const data = optionalText(entry, `${field}-data`)
  if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8')
  const file = optionalText(entry, field)
  return file === undefined ? undefined : readNamed(entry, field, file)
}

/** The text of a file that a field names; its path starts at the client config. */
export function readNamed(entry: Entry, field: string, name: string): string {
  const file = besideConfig(entry, name)
  const text = textIfThere(file)
  if (text === undefined) throw fault(entry, field, `names ${file}, which is not there`)
  return text
}

/** The path of a file that is named in an entry. */
export function besideConfig({ file }: Entry, name: string): string {
  return resolve(dirname(file), name)
}

export function checkPem(
  entry: Entry,
  field: string,
  pem: { ca?: string; cert?: string; key?: string | undefined },
): void {
  const what = 'ca' in pem ? 'is not a certificate in PEM' : 'and client-key are not a certificate and its key in PEM'
  if (!(pem.ca ?? pem.cert ?? '').includes('-----BEGIN ')) throw fault(entry, field, what)
  try {
    // Without a list of authorities it would load all the well-known ones, which takes longer than the rest of a start.
    // An import of the module would do the same: it looks at everything that the module has.
    process.getBuiltinModule('node:tls').createSecureContext({ ca: [], ...pem })
  } catch (error) {
    throw fault(entry, field, what, error)
  }
}

/** Refuses fields that this program does not support, rather than go on without them. */
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
