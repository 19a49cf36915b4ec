/**
 * Identifies what a complete object of a version is: known fields only, all defaults filled in. Stored objects carry the
 * id of the schema that they were complete for (`completeFor`), and whoever reads them by the same schema takes them as
 * they are. The id is made of what the schema says, not of its definition's uid or generation: so it is the same on all
 * servers, in a restored backup, and after changes of a definition that do not concern its objects.
 */
import { createHash } from 'node:crypto'

/**
 * To be raised whenever decoding or defaults make something else of an object than before: what older programs stored is
 * then brought up as it is read. test/apiserver/custom/schema-id.test.ts notices such changes.
 */
const reading = 1

const idLength = 22

export interface IdentifiedSchema {
  readonly apiVersion: string
  /** Begins the vendor's own keywords. */
  readonly prefix: string
  readonly text: Buffer
}

export function schemaIdOf({ apiVersion, prefix, text }: IdentifiedSchema): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([reading, apiVersion, prefix]))
    .update(text)
  return hash.digest('base64url').slice(0, idLength)
}
