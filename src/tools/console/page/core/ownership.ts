/** Determines the owners of an object's fields from its managed fields. */
import { isObject, type JsonObject } from '../../../../api/json/json.ts'
import type { ManagedFieldsEntry, ObjectMeta } from '../../../../api/model/object.ts'
import { type Path, pathText } from './fields.ts'

export interface Owner {
  readonly manager: string
  /** The operation of the entry: `Apply` or `Update`. */
  readonly operation: string
  readonly subresource: string
  readonly time: string
}

interface Owned {
  readonly owners: readonly Owner[]
  /** Whether the manager owns the field together with everything below it. */
  readonly whole: boolean
}

/** The owners of each field, by formatted path. */
export type Ownership = ReadonlyMap<string, Owned>

const maxFields = 20_000

export function readOwnership({ managedFields = [] }: ObjectMeta): Ownership {
  const owned = new Map<string, Owned>()
  for (const entry of managedFields) {
    const owner = ownerOf(entry)
    for (const { path, whole } of ownedPaths(entry)) {
      const text = pathText(path)
      const existing = owned.get(text)
      owned.set(text, { owners: [...(existing?.owners ?? []), owner], whole: whole || existing?.whole === true })
    }
  }
  return owned
}

function ownerOf({ manager = '', operation = '', subresource = '', time = '' }: ManagedFieldsEntry): Owner {
  return { manager, operation, subresource, time }
}

export interface OwnedPath {
  readonly path: Path
  readonly whole: boolean
}

/** Returns the fields that an entry of managed fields contains. */
export function ownedPaths({ fieldsV1 = {} }: ManagedFieldsEntry): OwnedPath[] {
  const paths: OwnedPath[] = []
  collect(fieldsV1, [], paths)
  return paths
}

function collect(fields: JsonObject, path: Path, paths: OwnedPath[]): void {
  if (paths.length > maxFields) return
  const inner = Object.entries(fields).filter(([name]) => name !== '.')
  const whole = inner.length === 0 || inner.every(([name]) => name.startsWith('v:'))
  if (whole || Object.hasOwn(fields, '.')) paths.push({ path, whole })
  for (const [name, value] of inner) {
    const step = readStep(name)
    if (step !== undefined && isObject(value)) collect(value, [...path, step], paths)
  }
}

/**
 * Parses a key of managed fields: `f:name` is a member, and `k:{…}` is an element that is identified by its keys. The
 * values of sets and the indexes of lists are not shown as fields.
 */
function readStep(name: string): Path[number] | undefined {
  if (name.startsWith('f:')) return { member: name.slice(2) }
  if (!name.startsWith('k:')) return undefined
  try {
    const keys: unknown = JSON.parse(name.slice(2))
    return isObject(keys) ? { keys } : undefined
  } catch {
    return undefined
  }
}

/** Returns the owners of a field. If it has none, returns the owners of the closest parent that is owned as a whole. */
export function ownersOf(ownership: Ownership, path: Path): readonly Owner[] {
  for (let length = path.length; length > 0; length--) {
    const owned = ownership.get(pathText(path.slice(0, length)))
    if (owned !== undefined && (length === path.length || owned.whole)) return owned.owners
  }
  return []
}

/** Returns one of eight colors for a manager. A manager has the same color throughout the console. */
export function colourOf(manager: string): string {
  let sum = 0
  for (let i = 0; i < manager.length; i++) sum = (sum * 31 + manager.charCodeAt(i)) >>> 0
  return `owner-${sum % 8}`
}
