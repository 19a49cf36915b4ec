/**
 * A stored value that cannot be decoded because it is damaged or was written by a newer version of the program. The
 * cache reports such a value separately and serves all other objects as usual.
 */
import { EncryptedValue, NewerValue, type UnreadableValue } from '../../api/codec/stored.ts'

/** A stored object that cannot be decoded. */
export class Unreadable {
  readonly key: string
  readonly revision: number
  readonly why: string
  /** Whether the value is intact but can be read only by a newer version of the program. */
  readonly newer: boolean
  /** How the administrator can resolve the problem. */
  readonly remedy: string
  /** The namespace of the object, or '' for cluster-scoped kinds. */
  readonly namespace: string
  readonly name: string

  /** Creates the record of an unreadable value. `prefix` is the key prefix of the kind. */
  constructor(prefix: string, { key, revision }: { key: string; revision: number }, fault: UnreadableValue) {
    this.key = key
    this.revision = revision
    this.why = fault.message
    this.newer = fault instanceof NewerValue
    this.remedy = remedyFor(fault)
    const place = key.slice(prefix.length)
    const slash = place.indexOf('/')
    this.namespace = slash < 0 ? '' : place.slice(0, slash)
    this.name = place.slice(slash + 1)
  }
}

function remedyFor(fault: UnreadableValue): string {
  if (fault instanceof NewerValue) return 'use that one'
  if (fault instanceof EncryptedValue) return 'correct that file and restart the server, or delete the object'
  return 'delete it, or restore it from a backup'
}
