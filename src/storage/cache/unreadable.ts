/**
 * What is in the store and cannot be read: damaged, or written by a newer program. It is kept apart and reported; all
 * other objects are served as ever.
 */
import { NewerValue, type UnreadableValue } from '../../api/codec/stored.ts'

/** The stored objects of a kind that cannot be read. */
export class Unreadable {
  readonly key: string
  readonly revision: number
  readonly why: string
  /** Nothing is wrong with it: it takes a newer program. */
  readonly newer: boolean
  /** '' for kinds without namespaces. */
  readonly namespace: string
  readonly name: string

  /** `prefix` is that of all keys of its kind. */
  constructor(prefix: string, { key, revision }: { key: string; revision: number }, fault: UnreadableValue) {
    this.key = key
    this.revision = revision
    this.why = fault.message
    this.newer = fault instanceof NewerValue
    const place = key.slice(prefix.length)
    const slash = place.indexOf('/')
    this.namespace = slash < 0 ? '' : place.slice(0, slash)
    this.name = place.slice(slash + 1)
  }
}
