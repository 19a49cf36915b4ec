/** What other servers publish of themselves as OpenAPI, which is joined into the documents of this one. */
import type { JsonObject } from '../../../api/json/json.ts'

/** Paths and types that another server publishes, each with its name. */
export interface PublishedParts {
  readonly paths: readonly (readonly [name: string, value: JsonObject])[]
  readonly types: readonly (readonly [name: string, value: JsonObject])[]
}

/** What other servers behind this one publish. */
export interface DescribedElsewhere {
  /** Of version 2; the same object for as long as it is the same document. */
  readonly documents: readonly PublishedParts[]
  /** The documents of version 3 that they serve. */
  readonly v3: readonly { readonly place: string; readonly hash: string }[]
}
