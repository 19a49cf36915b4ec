/**
 * Computes the ID of a schema. Readers use it to recognize objects that need no upgrade. A stored object contains the
 * ID of the schema for which it is complete (`completeFor`). A complete object has only known fields, and all of its
 * defaults are set. If the current schema has the same ID, the object is used unchanged. The ID depends on the content
 * of the schema, not on the uid or generation of the definition. It is therefore the same on all servers, after a
 * restore, and after changes to the definition that do not affect its objects.
 */
import { createHash } from 'node:crypto'

/**
 * The version of decoding and defaulting. Increment it whenever their results change. Objects stored by older servers
 * are then upgraded on read. test/apiserver/custom/schema-id.test.ts detects such changes.
 */
const reading = 1

const idLength = 22

export interface IdentifiedSchema {
  readonly apiVersion: string
  /** The prefix of vendor extensions. */
  readonly prefix: string
  readonly text: Buffer
}

export function schemaIdOf({ apiVersion, prefix, text }: IdentifiedSchema): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([reading, apiVersion, prefix]))
    .update(text)
  return hash.digest('base64url').slice(0, idLength)
}
